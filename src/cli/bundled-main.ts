/**
 * The way in of the bundle: that of `main.ts`, with a short cut for `verify`.
 *
 * Most of a small check is compiling code. The code of `verify` lies in one file beside what V8 made of it when the bundle
 * was built; another version of Node turns that down and compiles as ever. Without the file every command goes the long way.
 */

import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';
import { readWholeFile } from '../store/whole-file.js';
import type { Streams } from './context.js';

type Main = typeof import('./main.js').main;

/** Runs one command line; returns the exit code. Never throws. */
export async function main(args: readonly string[], streams: Streams): Promise<number> {
  const run = args[0] === 'verify' ? shortCut() : null;
  return run === null ? (await import('./main.js')).main(args, streams) : run(args, streams);
}

/** The program in one script, and the script itself, from which its code cache is made; null without the file. */
export function loadScript(): { readonly main: Main; readonly script: Script } | null {
  const url = new URL('./verify.cjs', import.meta.url);
  const filename = fileURLToPath(url);
  const source = readWholeFile(filename);
  if (source === null) return null;
  const cachedData = readWholeFile(`${filename}.cache`) ?? undefined;
  // The file is pure ASCII, which needs no decoding.
  const text = `(function (exports, require, module, bundleUrl) {${source.toString('latin1')}\n})`;
  const script = new Script(text, {
    filename,
    ...(cachedData === undefined ? {} : { cachedData }),
  });
  const module = { exports: {} as { main: Main } };
  // Making a real `require` costs as much as all of Node's own modules that the script asks for.
  const require = (id: string) => (id.startsWith('.') ? createRequire(url)(id) : process.getBuiltinModule(id));
  script.runInThisContext()(module.exports, require, module, url.href);
  return { main: module.exports.main, script };
}

function shortCut(): Main | null {
  return loadScript()?.main ?? null;
}
