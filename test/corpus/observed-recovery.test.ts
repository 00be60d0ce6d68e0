import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { BrokerSettings, ShardReport } from '../../src/domain/report.js';
import { applyOps, type Op } from '../builders/damage.js';
import { readShard, SHARD_DIR_NAME, writeShard } from '../builders/shards.js';
import { describeWithCorpus, withTempDir } from '../builders/trees.js';
import { checked } from './checked.js';

interface ObservedSite {
  readonly kind: string | null;
  readonly segment?: string;
  readonly position?: number;
}

type Observed =
  | { readonly opened: false; readonly refusal: ObservedSite }
  | {
      readonly opened: true;
      readonly baseOffset?: string;
      readonly tailOffset?: string;
      readonly logsAfter: Readonly<Record<string, number>>;
      readonly readFails?: ObservedSite | null;
    };

interface ObservedCase {
  readonly id: string;
  readonly base: string;
  readonly indexSpacing: number;
  readonly ops: readonly Op[];
  readonly observed: {
    readonly default: Observed;
    readonly repairChecksumTail: Observed | 'same';
    readonly verifyAllOnOpen: Observed | 'same';
  };
}

describeWithCorpus('what a broker was observed to do on opening', (corpus) => {
  const root = join(corpus, 'observed-recovery');
  const cases = readFileSync(join(root, 'cases.ndjson'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as ObservedCase);

  for (const { id, base, indexSpacing, ops, observed } of cases) {
    it(`${id}: ${base} after ${ops.map(({ op, file }) => `${op} ${file}`).join(', ')}`, () =>
      withTempDir(async (directory) => {
        const shard = join(directory, SHARD_DIR_NAME);
        const image = applyOps(readShard(join(root, 'base', base)), ops);
        writeShard(image, shard);
        const settings = { repairChecksumTail: false, verifyAllOnOpen: false, indexSpacing };
        const expectAs = async (changed: Partial<BrokerSettings>, seen: Observed | 'same') => {
          const { shards } = await checked(shard, { settings: { ...settings, ...changed } });
          const expected = seen === 'same' ? observed.default : seen;
          expectPrediction(shards[0]!, expected);
          // A quick look reads what an open reads, so it cannot know of reads that fail later.
          const quick = await checked(shard, { settings: { ...settings, ...changed }, quick: true });
          expectPrediction(
            withoutReads(quick.shards[0]!),
            'readFails' in expected ? { ...expected, readFails: null } : expected,
          );
        };
        await expectAs({}, observed.default);
        await expectAs({ repairChecksumTail: true }, observed.repairChecksumTail);
        await expectAs({ verifyAllOnOpen: true }, observed.verifyAllOnOpen);
      }));
  }
});

function withoutReads(report: ShardReport): ShardReport {
  return { ...report, prediction: { ...report.prediction, readsThatFail: [] } };
}

function expectPrediction(report: ShardReport, seen: Observed): void {
  const { prediction } = report;
  if (!seen.opened) {
    expect(prediction.verdict).to.equal('refuses');
    const [first] = prediction.refusals;
    if (seen.refusal.kind === null) return;
    expect(first!.kind).to.equal(seen.refusal.kind);
    expect(first!.site.segment?.toString()).to.equal(seen.refusal.segment);
    expect(first!.site.position).to.equal(seen.refusal.position);
    return;
  }
  expect(prediction.verdict).to.not.equal('refuses');
  expect(sizesAfter(report)).to.deep.equal(seen.logsAfter);
  if (seen.tailOffset !== undefined) expect(prediction.tailOffsetAfter?.toString()).to.equal(seen.tailOffset);
  if (seen.readFails == null) {
    expect(prediction.readsThatFail).to.deep.equal([]);
    return;
  }
  const [read] = prediction.readsThatFail;
  expect(read?.kind).to.equal(seen.readFails.kind);
  expect(read?.site.segment?.toString()).to.equal(seen.readFails.segment);
  expect(read?.site.position).to.equal(seen.readFails.position);
}

/** The sizes of the segment files once the predicted repairs are done. */
function sizesAfter(report: ShardReport): Record<string, number> {
  const sizes: Record<string, number> = {};
  for (const { file, bytes } of report.segments) sizes[file] = bytes;
  for (const { action, file, toBytes } of report.prediction.repairs) {
    if (action === 'truncate' || action === 'create-segment') sizes[file] = toBytes;
    else if (action !== 'rebuild-index') delete sizes[file];
  }
  return sizes;
}
