/**
 * Over all cases from outside: looking changes nothing; what is planned comes true; no record goes that the plan did not name; a
 * repair taken back leaves no trace in the shard; and a second plan finds nothing to do.
 */

import { cpSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import type { Plan } from '../../src/domain/plan.js';
import type { ShardReport } from '../../src/domain/report.js';
import { FailureError } from '../../src/domain/result.js';
import { offsetCount } from '../../src/domain/units.js';
import { discover } from '../../src/store/walk.js';
import { applyOps, type Op } from '../builders/damage.js';
import { applied, planning, requestWith, undone, withMemoryDir } from '../builders/repairs.js';
import { readShard, SHARD_DIR_NAME, writeShard } from '../builders/shards.js';
import { describeWithCorpus, hashTree, type TreeFingerprint } from '../builders/trees.js';
import { checked } from '../corpus/checked.js';

function treeOf(shard: string): TreeFingerprint {
  return hashTree(shard, { directoryTimes: false });
}

async function reportOf(shard: string, indexSpacing = 4096): Promise<ShardReport> {
  const settings = { repairChecksumTail: false, verifyAllOnOpen: false, indexSpacing };
  return (await checked(shard, { settings })).shards[0]!;
}

function recordsOf({ segments }: ShardReport): number {
  return segments.reduce((sum, { records }) => sum + records, 0);
}

/** Everything that the command may say of this shard, with as much allowed as can be. */
function commandsFor({ segments, findings }: ShardReport): (readonly string[])[] {
  const newest = segments.at(-1)?.file;
  const positions = findings.filter(({ file, site }) => file === newest && site.position !== undefined);
  const first = Math.min(...positions.map(({ site }) => site.position!));
  const cut =
    Number.isFinite(first) && first >= 32 ? [['repair-tail', '--cut-at', String(first), '--lose-intact', '99']] : [];
  return [
    ['repair-tail', '--lose-intact', '99'],
    ['repair-tail', '--allow', 'checksum-tail', '--lose-intact', '99'],
    ['repair-tail', '--allow', 'zero-tail', '--lose-intact', '99'],
    ...cut,
    ['rebuild-index'],
    ['rebuild-index', '--all'],
    ['rebuild-index', '--all', '--partial'],
  ];
}

async function expectSound(shard: string, command: readonly string[], spacing = 4096): Promise<Plan | null> {
  const before = treeOf(shard);
  const told = `${command.join(' ')}`;
  const { code, plan, stderr } = await planning(...command, '--index-spacing', String(spacing), shard);
  expect(treeOf(shard), told).to.deep.equal(before);
  expect(code, `${told}: ${stderr}`).to.be.oneOf([0, 20, 31]);
  expect(code === 31, told).to.equal(plan === null);
  if (plan === null) return null;
  expect(code, told).to.equal(plan.steps.length === 0 ? 0 : 20);
  if (plan.steps.length === 0) return plan;
  const reportBefore = await reportOf(shard, spacing);
  const journal = applied(plan, requestWith());
  const after = await reportOf(shard, spacing);
  expect(after.prediction.verdict, told).to.equal(plan.after.verdict);
  expect(after.prediction.tailOffsetAfter, told).to.equal(plan.after.tailOffset);
  if (command[0] === 'repair-tail') {
    expect(after.prediction.verdict, told).to.equal('opens');
    expect(after.prediction.repairs, told).to.deep.equal([]);
  }
  expect(recordsOf(reportBefore) - recordsOf(after), told).to.equal(
    plan.loses.intactRecords - offloadedOnly(plan, reportBefore),
  );
  const again = await planning(...command.filter(isRepeated), '--index-spacing', String(spacing), shard);
  expect([again.code, again.plan?.steps], `${told} again: ${again.stderr}`).to.deep.equal([0, []]);
  await undone(journal);
  expect(treeOf(shard), `${told}, taken back`).to.deep.equal(before);
  return plan;
}

/** A cut at a place makes no sense once it was made. */
function isRepeated(word: string, at: number, words: readonly string[]): boolean {
  return word !== '--cut-at' && words[at - 1] !== '--cut-at';
}

/** Records that are in the object store alone, and whose entries the plan drops. */
function offloadedOnly({ loses }: Plan, { segments }: ShardReport): number {
  const from = segments[0]?.baseOffset ?? 0n;
  const to = segments.at(-1)?.nextOffset ?? 0n;
  const counts = loses.manifestEntries.map(({ baseOffset, lastOffset }) => {
    const shared = { from: baseOffset > from ? baseOffset : from, to: lastOffset + 1n < to ? lastOffset + 1n : to };
    return lastOffset + 1n - baseOffset - offsetCount(shared);
  });
  return Number(counts.reduce((sum, count) => sum + count, 0n));
}

interface Case {
  readonly case: string;
  readonly path: string;
}

describeWithCorpus('repairs of the corpus of cases', (corpus) => {
  const root = path.join(corpus, 'cases');
  const cases = lines<Case>(path.join(root, 'expected.ndjson'));
  for (const { case: name, path: at } of cases) {
    it(`${name}`, () =>
      withMemoryDir(async (dir) => {
        cpSync(path.join(root, at), path.join(dir, path.basename(at)), { recursive: true });
        const shards = [...discover(dir, { includeDeleted: false })].filter((found) => found.what === 'shard');
        for (const { listing } of shards) {
          for (const command of commandsFor(await reportOf(listing.path)))
            await expectSoundOrLive(listing.path, command);
        }
      })).timeout(20_000);
  }
});

/** A plan for a shard of a broker that looks to be running is made, and never carried out. */
async function expectSoundOrLive(shard: string, command: readonly string[]): Promise<void> {
  try {
    await expectSound(shard, command);
  } catch (error) {
    if (!(error instanceof FailureError)) throw error;
    expect(error.failure.reason).to.equal('refused');
    expect(error.message).to.contain('run-state says that the broker is running');
  }
}

interface ObservedCase {
  readonly id: string;
  readonly base: string;
  readonly indexSpacing: number;
  readonly ops: readonly Op[];
  readonly observed: {
    readonly default: {
      readonly opened: boolean;
      readonly tailOffset?: string;
      readonly logsAfter?: Record<string, number>;
    };
  };
}

describeWithCorpus('repairs of what a broker was observed to open', (corpus) => {
  const root = path.join(corpus, 'observed-recovery');
  const cases = lines<ObservedCase>(path.join(root, 'cases.ndjson'));
  const hundreds = new Map<string, ObservedCase[]>();
  for (const observed of cases) {
    const hundred = observed.id.slice(0, -2);
    hundreds.set(hundred, [...(hundreds.get(hundred) ?? []), observed]);
  }
  for (const [hundred, some] of hundreds) {
    it(`${hundred}00 to ${hundred}99: the plan leaves what the broker left`, async () => {
      for (const observed of some)
        await withMemoryDir((dir) => expectAsObserved(path.join(dir, SHARD_DIR_NAME), root, observed));
    }).timeout(60_000);
  }
});

async function expectAsObserved(
  shard: string,
  root: string,
  { id, base, indexSpacing, ops, observed }: ObservedCase,
): Promise<void> {
  writeShard(applyOps(readShard(path.join(root, 'base', base)), ops), shard);
  const seen = observed.default;
  const plan = await expectSound(shard, ['repair-tail', '--lose-intact', '9999'], indexSpacing);
  if (!seen.opened) {
    expect(plan, id).to.equal(null);
    return;
  }
  if (!Object.keys(seen.logsAfter!).every((file) => ops.every((op) => op.op !== 'delete' || op.file !== file))) return;
  expect(plan, `${id} ${JSON.stringify(ops)}`).to.not.equal(null);
  if (seen.tailOffset !== undefined) expect(plan!.after.tailOffset?.toString(), id).to.equal(seen.tailOffset);
  const sizes = new Map(
    [...readShard(shard).keys()]
      .filter((name) => name.endsWith('.log'))
      .map((name) => [name, statSync(path.join(shard, name)).size]),
  );
  for (const { file, after } of plan!.steps) {
    if (!file.endsWith('.log')) continue;
    if (after === null) sizes.delete(file);
    else sizes.set(file, after.size);
  }
  expect(Object.fromEntries(sizes), id).to.deep.equal(seen.logsAfter);
}

function lines<T>(file: string): T[] {
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as T);
}
