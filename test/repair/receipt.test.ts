/** A receipt says what was done, by whom and when, and whether it came out as planned. */
import { expect } from 'chai';
import { NO_LOSS, type Plan, type PlanPrediction } from '../../src/domain/plan.js';
import type { Prediction } from '../../src/domain/report.js';
import type { Journal } from '../../src/repair/journal.js';
import type { JournalRecord } from '../../src/repair/journal-record.js';
import { receiptOf } from '../../src/repair/receipt.js';
import { FRAME, held } from '../builders/plan-inputs.js';
import { prediction, TOOL } from '../builders/reports.js';
import { logName, SHARD_DIR_NAME, SHARD_KEY } from '../builders/shards.js';

const OPENS: PlanPrediction = { verdict: 'opens', refusals: [], repairs: [], tailOffset: 24n, failingReads: 0 };
const OLD = { size: 7, crc32: '0x00000007' };
const NEW = { size: 3, crc32: '0x00000003' };

const PLAN: Plan = {
  schema: 'felix-fsck.plan/1',
  ...FRAME,
  command: 'repair-tail',
  shard: { path: `/data/${SHARD_DIR_NAME}`, name: SHARD_DIR_NAME, key: SHARD_KEY },
  files: [],
  steps: [
    {
      action: 'rewrite',
      file: 'epochs',
      before: OLD,
      after: NEW,
      content: held(new Uint8Array(3)),
      ranges: [],
      why: 'so',
      answers: [],
    },
    { action: 'delete', file: logName(3), before: OLD, after: null, content: [], ranges: [], why: 'so', answers: [] },
  ],
  loses: { ...NO_LOSS, records: 3 },
  before: { ...OPENS, verdict: 'repairs' },
  after: OPENS,
  notes: ['a note'],
};

const RECORD: JournalRecord = {
  schema: 'felix-fsck.journal/1',
  state: 'applied',
  shard: PLAN.shard.path,
  plan: 'ab'.repeat(32),
  tool: { name: 'felix-fsck', version: '9' },
  who: { uid: 5, user: 'ada', host: 'here' },
  startedAt: '2026-01-01T00:00:00.000Z',
  changedAt: '2026-01-01T00:00:09.000Z',
  directoryMtimeNs: 1n,
  kept: [],
};

function receipt(found: Prediction) {
  return receiptOf({ plan: PLAN, record: RECORD, path: '/data/journal' } as Journal, found);
}

describe('a receipt', () => {
  it('names the run that did it, the plan, each file before and after, and what a check found then', () => {
    expect(receipt(prediction())).to.deep.equal({
      schema: 'felix-fsck.receipt/1',
      tool: { name: 'felix-fsck', version: '9' },
      who: { uid: 5, user: 'ada', host: 'here' },
      startedAt: '2026-01-01T00:00:00.000Z',
      finishedAt: '2026-01-01T00:00:09.000Z',
      command: 'repair-tail',
      shard: PLAN.shard,
      plan: 'ab'.repeat(32),
      journal: '/data/journal',
      files: [
        { file: 'epochs', action: 'rewrite', before: OLD, after: NEW },
        { file: logName(3), action: 'delete', before: OLD, after: null },
      ],
      loses: PLAN.loses,
      before: PLAN.before,
      after: OPENS,
      asPlanned: true,
    });
    expect(PLAN.tool).to.deep.equal(TOOL);
  });

  it('is as planned only when the verdict and the end of the log are', () => {
    expect(receipt(prediction({ verdict: 'repairs' })).asPlanned).to.equal(false);
    expect(receipt(prediction({ tailOffsetAfter: 23n })).asPlanned).to.equal(false);
    expect(receipt(prediction({ verdict: 'refuses', tailOffsetAfter: null })).asPlanned).to.equal(false);
  });
});
