/**
 * The licences of the packages whose code lies in what is built, as their authors ask for them to be handed on.
 */

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Metafile } from 'esbuild';
import { PROJECT_ROOT } from './trees.js';

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
}

/** One text for all packages that went into a build. */
export function noticesOf({ inputs }: Pick<Metafile, 'inputs'>): string {
  const folders = Object.keys(inputs).flatMap((input) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input) ?? []);
  const notices = [...new Set(folders)].sort().map(noticeOf);
  return `felix-fsck contains code of these packages, under these licences.\n\n${notices.join('\n')}`;
}

function noticeOf(folder: string): string {
  const directory = path.join(PROJECT_ROOT, folder);
  const { name, version, license } = JSON.parse(readFileSync(path.join(directory, 'package.json'), 'utf8')) as Manifest;
  const file = readdirSync(directory).find((entry) => /^licen[cs]e/i.test(entry));
  if (file === undefined) throw new Error(`${name} has no licence to hand on`);
  const text = readFileSync(path.join(directory, file), 'utf8').trim();
  return `${'-'.repeat(72)}\n${name} ${version} (${license})\n\n${text}\n`;
}
