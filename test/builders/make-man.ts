/**
 * The manual pages: `npm run man` writes them into `man/`, from the table of commands, the catalogue, and the
 * layouts, and lists them in package.json.
 */

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { COMMANDS } from '../../src/cli/command-table.js';
import { TOOL } from '../../src/cli/version.js';
import { commandPage, toolPage } from '../../src/report/man-commands.js';
import { findingsPage } from '../../src/report/man-findings.js';
import { runbookPage } from '../../src/report/man-runbook.js';
import { storagePage } from '../../src/report/man-storage.js';
import { fileNameOf, type Imprint, type ManPage, renderRoff } from '../../src/report/roff.js';
import { PROJECT_ROOT } from './trees.js';

export const MAN_DIR = path.join(PROJECT_ROOT, 'man');

const IMPRINT: Imprint = {
  date: '2026-11-29',
  source: `${TOOL.name} ${TOOL.version}`,
  manual: 'Felix storage tools',
};

function manPages(): ManPage[] {
  return [toolPage(COMMANDS), ...COMMANDS.map(commandPage), storagePage(), findingsPage(), runbookPage()];
}

/** Name of the file to its text. */
export function manFiles(): ReadonlyMap<string, string> {
  return new Map(manPages().map((page) => [fileNameOf(page), renderRoff(page, IMPRINT)]));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  mkdirSync(MAN_DIR, { recursive: true });
  const files = manFiles();
  for (const name of readdirSync(MAN_DIR)) if (!files.has(name)) rmSync(path.join(MAN_DIR, name));
  for (const [name, text] of files) writeFileSync(path.join(MAN_DIR, name), text);
  const manifest = path.join(PROJECT_ROOT, 'package.json');
  const list = [...files.keys()].sort().map((name) => `    "man/${name}"`);
  const before = readFileSync(manifest, 'utf8');
  writeFileSync(manifest, before.replace(/"man": \[[^\]]*\]/, `"man": [\n${list.join(',\n')}\n  ]`));
}
