/**
 * The whole way from a broken shard to a repaired one and back, by what the tool itself prints: every command is pasted into
 * a shell as it stands on a narrow screen, and nothing is known beforehand but `verify`.
 */
import { cpSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { type ScratchCopy, type ShellOutcome, withScratchCopy } from '../builders/scratch-copy.js';
import { SHARD_DIR_NAME } from '../builders/shards.js';
import { hashTree } from '../builders/trees.js';

interface Way {
  readonly fixture: string;
  /** What `verify` exits with before the repair, and after it. */
  readonly codes: readonly [before: number, after: number];
  /** Added to `verify`. */
  readonly options?: string;
  /** The command that makes the plan, out of what `verify` said; the one under Next when left out. */
  plan?(place: ScratchCopy, said: string, shard: string): Promise<string> | string;
}

/** Another replica of the same log, whole but for unwritten space behind it. */
const REPLICA = `zero-tail/${SHARD_DIR_NAME}`;

const WAYS: readonly Way[] = [
  { fixture: 'zero-tail', codes: [22, 0] },
  { fixture: 'index-points-elsewhere', codes: [22, 0] },
  { fixture: 'flipped-bit-in-length', codes: [22, 0], options: ` --replica 'on disk/${REPLICA}'` },
  {
    fixture: 'flipped-bit-in-payload',
    codes: [21, 0],
    plan: (_, said, shard) => `${/felix-fsck heal\s+--accept-bit-flip/.exec(said)![0].replace(/\s+/g, ' ')} '${shard}'`,
  },
  { fixture: 'half-record-then-good-ones', codes: [21, 0], plan: cutAfterCopy },
];

/** Copies the intact records out, as is proposed, then allows as many to go as the refusal names. */
async function cutAfterCopy({ shell }: ScratchCopy, said: string, shard: string): Promise<string> {
  const copied = await typed(shell, `${commandBehind('Next: ', said).replace(/DIR$/, 'copied')}\n`);
  expect(copied.code).to.equal(21);
  const found = await typed(shell, commandBehind('Next: ', copied.stdout));
  expect([found.code, found.stdout.includes('20 records')], found.stdout).to.deep.equal([0, true]);
  const refused = await typed(shell, `felix-fsck repair-tail '${shard}'`);
  expect([refused.code, refused.stdout]).to.deep.equal([31, '']);
  const [allowed] = /--lose-intact [0-9]+/.exec(refused.stderr)!;
  return `felix-fsck repair-tail '${shard}' ${allowed}`;
}

/** The command behind a label, with the lines that a backslash joins to it. */
function commandBehind(label: string, text: string): string {
  const [, command] = new RegExp(`${label}((?:.*\\\\\\n)*.*)`).exec(text) ?? [];
  expect(command, `no ${label}in:\n${text}`).to.be.a('string');
  return command!;
}

function typed(shell: ScratchCopy['shell'], line: string): Promise<ShellOutcome> {
  return shell(line, { COLUMNS: '80' });
}

describe("an operator's way, by what the tool prints", function () {
  this.timeout(30_000);

  for (const { fixture, codes, options = '', plan } of WAYS) {
    it(`leads from ${fixture} to a repair that was reviewed, applied, verified and taken back`, () =>
      withScratchCopy('fixtures', async (place) => {
        const { shell, dir } = place;
        cpSync(path.join(dir, 'fixtures'), path.join(dir, 'on disk'), { recursive: true, preserveTimestamps: true });
        const shard = `on disk/${fixture}/${SHARD_DIR_NAME}`;
        const content = () => hashTree(path.join(dir, shard), { directoryTimes: false });
        const verify = () => typed(shell, `felix-fsck verify${options} 'on disk/${fixture}'`);
        const before = content();

        const broken = await verify();
        expect([broken.code, broken.stderr]).to.deep.equal([codes[0], '']);
        const planned = await typed(
          shell,
          (await plan?.(place, broken.stdout, shard)) ?? commandBehind('Next: ', broken.stdout),
        );
        expect(planned.code, planned.stderr).to.equal(20);
        expect(content()).to.deep.equal(before);

        // Two commands: the plan into a file, where it can be read, and apply, which asks and has nobody to ask here.
        const steps = planned.stdout.slice(planned.stdout.indexOf('Next: ') + 'Next: '.length).trimEnd();
        const asked = await typed(shell, steps);
        expect([asked.code, asked.stderr]).to.satisfy(
          ([code, said]: [number, string]) => code === 31 && said.includes('--yes'),
        );
        expect(content()).to.deep.equal(before);
        const applied = await typed(shell, `${steps} --yes`);
        expect(applied.code, applied.stderr).to.equal(0);
        expect(applied.stdout).to.contain('as planned');

        expect((await verify()).code).to.equal(codes[1]);
        const undone = await typed(shell, `${commandBehind('To take it back: ', applied.stdout)} --yes`);
        expect(undone.code, undone.stderr).to.equal(0);
        expect(content()).to.deep.equal(before);
        expect((await verify()).stdout).to.equal(broken.stdout);
      }));
  }

  it('finds a journal again from the shard that it belongs to', () =>
    withScratchCopy('zero-tail', async ({ shell, dir }) => {
      const before = hashTree(path.join(dir, SHARD_DIR_NAME), { directoryTimes: false });
      await typed(shell, `felix-fsck repair-tail --allow zero-tail ${SHARD_DIR_NAME} --apply --yes`);
      const wrong = await typed(shell, `felix-fsck undo ${SHARD_DIR_NAME} --yes`);
      expect([wrong.code, wrong.stdout]).to.deep.equal([2, '']);
      const undone = await typed(shell, `${wrong.stderr.trimEnd().split('\n').at(-1)} --yes`);
      expect(undone.code, undone.stderr).to.equal(0);
      expect(hashTree(path.join(dir, SHARD_DIR_NAME), { directoryTimes: false })).to.deep.equal(before);
    }));

  it('is said at every plan that is refused', () =>
    withScratchCopy('fixtures', async ({ shell }) => {
      const refused = [
        `repair-tail fixtures/flipped-bit-in-length/${SHARD_DIR_NAME}`,
        `repair-tail fixtures/flipped-bit-in-payload/${SHARD_DIR_NAME} --cut-at 3312`,
        `repair-tail fixtures/missing-segment/${SHARD_DIR_NAME}`,
        `repair-tail fixtures/damaged-replica-file/${SHARD_DIR_NAME}`,
        `repair-tail fixtures/index-points-elsewhere/${SHARD_DIR_NAME}`,
        `repair-tail fixtures/zero-tail/${SHARD_DIR_NAME}`,
      ];
      for (const line of refused) {
        const { code, stderr } = await typed(shell, `felix-fsck ${line}`);
        expect(code, line).to.equal(31);
        expect(stderr, line).to.contain('\n  Instead: felix-fsck ');
      }
    }));
});
