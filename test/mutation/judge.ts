/**
 * Says which surviving mutants of the last run nobody has named. Arguments: the report; `--stubs` prints them as JSON, to be
 * moved under a reason. Ends with 1 when there is one.
 */

import { readFileSync } from 'node:fs';
import { type Judgement, judgeMutants, type MutationReport, readSurvivors } from './survivors.js';

const [path = 'reports/mutation.json', flag] = process.argv.slice(2);
const report = JSON.parse(readFileSync(path, 'utf8')) as MutationReport;
const judgement = judgeMutants(report, readSurvivors(new URL('../../../test/mutation/survivors/', import.meta.url)));
process.stdout.write(flag === '--stubs' ? `${JSON.stringify(judgement.unnamed, null, 1)}\n` : told(judgement));
process.exitCode = judgement.unnamed.length > 0 ? 1 : 0;

function told({ unnamed, outdated, killed, survived }: Judgement): string {
  const rows = [
    ...unnamed.map(({ file, mutator, line, original, replacement }) =>
      [`unnamed  ${file} (${mutator})`, `    in   ${line}`, `    -    ${original}`, `    +    ${replacement}`].join(
        '\n',
      ),
    ),
    ...outdated.map(({ file, line, replacement }) => `outdated ${file}: ${line} -> ${replacement}`),
    `mutants: ${killed} killed, ${survived} survived, of these ${unnamed.length} without a reason; ` +
      `${outdated.length} names no longer needed`,
  ];
  return `${rows.join('\n')}\n`;
}
