/** What the documentation shows can be typed as it stands: every command has examples, and every example runs. */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { COMMANDS } from '../../src/cli/command-table.js';
import { unknownIn } from '../builders/documented.js';
import { runInProcess } from '../builders/in-process.js';
import { type ScratchCopy, withScratchCopy } from '../builders/scratch-copy.js';
import { PROJECT_ROOT } from '../builders/trees.js';

/** Exit codes of a run that did its work, whatever it found. */
const DID_ITS_WORK = [0, 20, 21, 22];

describe('commands', () => {
  for (const { name, summary, description, examples } of COMMANDS) {
    it(`tell of ${name}: what it does, and examples of it`, async () => {
      expect(summary).to.match(/^[^\n.]{10,120}$/);
      expect(description).to.match(/^[A-Z][^\n]{40,}\.$/);
      expect(examples).not.to.have.length(0);
      for (const { command, shows } of examples) {
        expect(command).to.match(new RegExp(`felix-fsck ${name}( |\\)|$)`));
        expect(unknownIn(command), command).to.deep.equal([]);
        expect(shows).to.match(/^[^\n]{3,}[^.\n]$/);
      }
      const { code, stdout, stderr } = await runInProcess([name, '--help']);
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
      expect(stdout).to.contain(`Usage: felix-fsck ${name}`);
      for (const { command } of examples) expect(stdout).to.contain(command);
    });
  }

  it('have names of their own', () => {
    expect(new Set(COMMANDS.map(({ name }) => name)).size).to.equal(COMMANDS.length);
  });

  it('have one meaning for each option that several of them take', () => {
    const values = new Map<string, string>();
    for (const { name, options } of COMMANDS) {
      for (const { flags } of options) {
        const long = /--[a-z-]+/.exec(flags)![0];
        const value = / [<[].*/.test(flags) ? 'takes a value' : 'takes none';
        const known = values.get(long) ?? value;
        expect(value, `${long} of ${name}`).to.equal(known);
        values.set(long, known);
      }
    }
  });
});

describe('examples', function () {
  this.timeout(30_000);

  for (const { name, examples } of COMMANDS) {
    it(`of ${name} run on a copy of the fixtures, one after the other`, async () => {
      await withScratchCopy('fixtures', async (place) => {
        for (const { command } of examples) await expectItRuns(command, place);
      });
    });
  }

  it('of the README run on a copy of the fixtures', async () => {
    const lines = readmeLines();
    expect(lines).not.to.have.length(0);
    for (const line of lines) expect(unknownIn(line), line).to.deep.equal([]);
    await withScratchCopy('fixtures', async (place) => {
      for (const line of lines.filter(runnable)) await expectItRuns(line, place);
    });
  });
});

async function expectItRuns(command: string, place: ScratchCopy): Promise<void> {
  const tmp = path.join(place.dir, 'tmp');
  mkdirSync(tmp, { recursive: true });
  const { code, stderr } = await place.shell(command.replaceAll(' /tmp/', ` ${tmp}/`));
  expect(code, `${command}\n${stderr}`).to.be.oneOf(DID_ITS_WORK);
}

/** Lines of the README's shell blocks that call the tool. */
function readmeLines(): string[] {
  const at = path.join(PROJECT_ROOT, 'README.md');
  if (!existsSync(at)) return [];
  const blocks = [...readFileSync(at, 'utf8').matchAll(/^```(?:sh|bash|console)\n([\s\S]*?)^```/gm)].map(
    ([, text]) => text!,
  );
  return blocks
    .flatMap((block) => block.replace(/\\\n\s*/g, '').split('\n'))
    .map((line) =>
      line
        .replace(/^\$ /, '')
        .replace(/^npm ci && /, '')
        .replace(/node bin\/felix-fsck\.js/g, 'felix-fsck'),
    )
    .filter((line) => line.includes('felix-fsck') && !line.startsWith('#'));
}

/** What needs nothing but the fixtures. */
function runnable(line: string): boolean {
  return /(?:^|\s)fixtures\//.test(line) && !/\b(?:SHARD|REPLICA|DIR|ssh|docker|kubectl)\b/.test(line);
}
