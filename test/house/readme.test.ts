import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { COMMANDS } from '../../src/cli/command-table.js';
import { CATALOGUE } from '../../src/domain/catalogue.js';
import { EXIT_CODES } from '../../src/domain/exit-codes.js';
import { README, withFindings } from '../builders/make-readme.js';
import { runCli } from '../builders/run-cli.js';

describe('the README', () => {
  const text = readFileSync(README, 'utf8');

  it('has the table of findings that the catalogue makes', () => {
    expect(withFindings(text)).to.equal(text);
    for (const kind of Object.keys(CATALOGUE)) expect(text).to.include(`| \`${kind}\` |`);
  });

  it('names every command and every exit code', () => {
    for (const { name } of COMMANDS) expect(text, name).to.match(new RegExp(`\`${name}[ \`]|, \`${name} `));
    for (const { code } of EXIT_CODES) expect(text, `${code}`).to.match(new RegExp(`^\\| (\\d+, )?${code}[ ,]`, 'm'));
  });

  it('shows what its first command prints', async () => {
    const { code, stdout } = await runCli(['verify', 'fixtures/zero-tail']);
    expect(code).to.equal(22);
    const [, shown] = /^```\n(acme[\s\S]*?)^```/m.exec(text)!;
    expect(stdout.startsWith(shown!)).to.equal(true);
  });
});
