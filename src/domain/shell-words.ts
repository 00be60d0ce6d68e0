/** Words of a POSIX shell, for command lines that a person copies. */

/** Any text as one word of a shell; control and format characters become `$'…'` escapes. */
export function shellQuoted(text: string): string {
  if (/^[A-Za-z0-9_./:@%+=,-]+$/.test(text)) return text;
  const odd = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;
  if (!odd.test(text)) return `'${text.replaceAll("'", "'\\''")}'`;
  const escaped = Array.from(text, (character) => {
    if (character === '\\' || character === "'") return `\\${character}`;
    if (!odd.test(character)) return character;
    return Array.from(new TextEncoder().encode(character), (byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join(
      '',
    );
  });
  return `$'${escaped.join('')}'`;
}

/** A path as one word of a shell that no command takes for an option. */
export function shellPath(path: string): string {
  return shellQuoted(path.startsWith('-') ? `./${path}` : path);
}

/** A name below a directory that is a word of a shell already: the two words joined are one. */
export function shellJoined(directory: string, name: string): string {
  return `${directory.replace(/\/+$/, '')}/${shellQuoted(name)}`;
}
