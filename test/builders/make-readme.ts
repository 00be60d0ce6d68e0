/**
 * The README's table of findings, from the catalogue: `npm run readme` writes it between its marks.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { CATALOGUE } from '../../src/domain/catalogue.js';
import { PROJECT_ROOT } from './trees.js';

export const README = path.join(PROJECT_ROOT, 'README.md');

/** The README with its table of findings as the catalogue has it now. */
export function withFindings(readme: string): string {
  return readme.replace(
    /<!-- findings -->[\s\S]*<!-- \/findings -->/,
    () => `<!-- findings -->\n${findingsTable()}<!-- /findings -->`,
  );
}

function findingsTable(): string {
  const rows = Object.entries(CATALOGUE).map(
    ([kind, { title, severities }]) => `| \`${kind}\` | ${severities.join(', ')} | ${title.replaceAll('|', '\\|')} |`,
  );
  return ['| kind | severity | what it is |', '| --- | --- | --- |', ...rows, ''].join('\n');
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  writeFileSync(README, withFindings(readFileSync(README, 'utf8')));
}
