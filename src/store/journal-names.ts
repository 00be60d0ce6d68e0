/**
 * Names of the journals that repairs keep beside a shard.
 */

const JOURNAL_NAME = /^\.(.+)\.felix-fsck-[0-9]{8}T[0-9]{6}Z(?:-[0-9]+)?$/;

/** `.<shard>.felix-fsck-<time>`: dotted, so that no broker and no walk takes it for a shard. */
export function journalName(shardName: string, at: Date, attempt = 1): string {
  const time = `${at.toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`;
  return `.${shardName}.felix-fsck-${time}${attempt === 1 ? '' : `-${attempt}`}`;
}

/** The shard that a journal's name speaks of; null for any other name. */
export function shardOfJournal(name: string): string | null {
  return JOURNAL_NAME.exec(name)?.[1] ?? null;
}
