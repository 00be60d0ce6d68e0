import { expect } from 'chai';
import type { BitFlip } from '../../src/domain/finding.js';
import { U64_MAX } from '../../src/domain/units.js';
import {
  renderRootLine,
  renderShardLine,
  renderSummaryLine,
  renderVerifyJson,
  renderVerifyNdjson,
  toJson,
} from '../../src/report/json.js';
import {
  finding,
  HOSTILE,
  prediction,
  rootReport,
  segmentReport,
  shardReport,
  summaryOf,
  TOOL,
  verifyReport,
  zeroTailShard,
} from '../builders/reports.js';

const UNSAFE =
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff]/;

describe('report/json', () => {
  it('gives one object for verify, with the fields of the contract and u64 as text', () => {
    const shard = zeroTailShard();
    const report = verifyReport([shard], 22);
    const parsed = JSON.parse(renderVerifyJson(report, TOOL));
    expect(Object.keys(parsed)).to.have.members(['schema', 'tool', 'partial', 'shards', 'root', 'summary']);
    expect(parsed).to.deep.include({ schema: 'felix-fsck.verify/1', tool: TOOL, partial: false, root: null });
    expect(parsed.shards[0]).to.deep.equal({
      path: '/data/acme_default_orders_0-0d3aed4b998d2798',
      name: 'acme_default_orders_0-0d3aed4b998d2798',
      key: 'acme/default/orders/0',
      incarnation: null,
      baseOffset: '0',
      tailOffset: '21',
      segments: parsed.shards[0].segments,
      sidecars: [],
      coverage: null,
      findings: [
        {
          kind: 'RecordHeaderChecksum',
          severity: 'fatal',
          site: { shard: 'acme/default/orders/0', segment: '2', position: 426 },
          file: '00000000000000000002.log',
          path: '/data/acme_default_orders_0-0d3aed4b998d2798/00000000000000000001.log',
          detail: { expected: '0x00000000', found: '0x0fd59b8d', resumedAt: null, offset: '21' },
          lostOffsets: { from: '21', to: '21' },
          damagedRange: { from: 426, to: 4522 },
          looksLike: 'zeros',
          message: '4,096 zero bytes after the last record: unwritten space, nothing follows.',
          next: 'felix-fsck repair-tail --allow zero-tail /data/acme_default_orders_0-0d3aed4b998d2798',
        },
      ],
      omitted: [],
      notChecked: [],
      prediction: {
        verdict: 'refuses',
        refusals: [
          {
            kind: 'RecordHeaderChecksum',
            site: { shard: 'acme/default/orders/0', segment: '2', position: 426 },
          },
        ],
        repairs: [],
        tailOffsetAfter: null,
        readsThatFail: [],
        notJudged: [],
      },
      bytesRead: 1302,
    });
    expect(parsed.shards[0].segments[0]).to.deep.equal({
      id: '0',
      file: '00000000000000000000.log',
      version: 3,
      baseOffset: '0',
      nextOffset: '8',
      createdAtMicros: '1767225600000000',
      records: 8,
      bytes: 434,
      verifiedBytes: 434,
      damagedBytes: 0,
      unreadBytes: 0,
      skippedSinceMicros: null,
      firstTimestampMicros: '1767225600000000',
      lastTimestampMicros: '1767225600000001',
      index: { file: '00000000000000000000.index', entries: 1, usable: true, checkedEntries: 1, notJudgedEntries: 0 },
    });
    expect(parsed.summary).to.deep.equal({
      shards: 1,
      segments: 3,
      records: 21,
      bytes: 5347,
      verifiedBytes: 1251,
      damagedBytes: 4096,
      unreadBytes: 0,
      skippedBytes: 0,
      findings: { info: 0, warning: 0, error: 0, fatal: 0 },
      worst: null,
      exitCode: 22,
      elapsedMs: 12,
    });
  });

  it('writes repairs, failing reads, coverage and sidecars field by field', () => {
    const shard = shardReport({
      sidecars: [{ file: 'epochs', bytes: 30, state: 'sound', facts: { newest: U64_MAX, list: [1n, null] } }],
      coverage: [{ from: 0n, to: U64_MAX, where: 'nowhere' }],
      omitted: [{ file: 'a.log', kind: 'RecordChecksum', count: 7 }],
      prediction: prediction({
        verdict: 'repairs',
        repairs: [
          {
            action: 'truncate',
            file: 'a.log',
            fromBytes: 500,
            toBytes: 423,
            recordsLost: 1,
            intactRecordsLost: 0,
          },
        ],
        readsThatFail: [{ kind: 'RecordChecksum', site: { segment: 1n }, fromOffset: 3n, toOffset: U64_MAX }],
        notJudged: ['epochs'],
      }),
    });
    const parsed = JSON.parse(renderShardLine(shard));
    expect(parsed.type).to.equal('shard');
    expect(parsed.sidecars).to.deep.equal([
      { file: 'epochs', bytes: 30, state: 'sound', facts: { newest: '18446744073709551615', list: ['1', null] } },
    ]);
    expect(parsed.coverage).to.deep.equal([{ from: '0', to: '18446744073709551615', where: 'nowhere' }]);
    expect(parsed.omitted).to.deep.equal([{ file: 'a.log', kind: 'RecordChecksum', count: 7 }]);
    expect(parsed.prediction).to.deep.equal({
      verdict: 'repairs',
      refusals: [],
      repairs: [
        { action: 'truncate', file: 'a.log', fromBytes: 500, toBytes: 423, recordsLost: 1, intactRecordsLost: 0 },
      ],
      tailOffsetAfter: '24',
      readsThatFail: [
        { kind: 'RecordChecksum', site: { segment: '1' }, fromOffset: '3', toOffset: '18446744073709551615' },
      ],
      notJudged: ['epochs'],
    });
  });

  it('puts the first data root in root, and all of them in roots only when there are several', () => {
    const one = JSON.parse(renderVerifyJson(verifyReport([], 0, { roots: [rootReport()] }), TOOL));
    expect(one.root).to.deep.equal({
      path: '/data',
      findings: [],
      storageId: '00112233-4455-6677-8899-aabbccddeeff',
      runState: { state: 'stopped', acknowledgesBeforeSync: false, id: '00112233-4455-6677-8899-aabbccddeeff' },
      registration: '18446744073709551615',
      nodeId: 'node-1',
      layouts: { 'storage-id': 'padded' },
      streams: [],
      deleted: [],
    });
    expect(one).not.to.have.property('roots');
    const roots = [rootReport(), rootReport({ path: '/other', runState: null })];
    const two = JSON.parse(renderVerifyJson(verifyReport([], 0, { roots }), TOOL));
    expect(two.root.path).to.equal('/data');
    expect(two.roots.map(({ path }: { path: string }) => path)).to.deep.equal(['/data', '/other']);
  });

  it('gives NDJSON one line a shard, one a root, and a summary last', () => {
    const report = verifyReport([shardReport(), zeroTailShard()], 22, { roots: [rootReport()], partial: true });
    const lines = renderVerifyNdjson(report, TOOL).split('\n');
    expect(lines.pop()).to.equal('');
    const parsed = lines.map((line) => JSON.parse(line));
    expect(parsed.map(({ type }) => type)).to.deep.equal(['shard', 'shard', 'root', 'summary']);
    expect(parsed[3]).to.deep.include({ schema: 'felix-fsck.verify/1', tool: TOOL, partial: true, exitCode: 22 });
  });

  it('says the same of a shard in NDJSON and in JSON', () => {
    const shard = zeroTailShard();
    const { type, ...line } = JSON.parse(renderShardLine(shard));
    expect(type).to.equal('shard');
    expect(line).to.deep.equal(JSON.parse(renderVerifyJson(verifyReport([shard]), TOOL)).shards[0]);
  });

  it('parses back to the very names and keys, however hostile, with no byte that a terminal obeys', () => {
    const flip: BitFlip = { position: 1, bit: 0, field: HOSTILE, chance: 0.5 };
    const shard = shardReport({
      path: HOSTILE,
      name: HOSTILE,
      key: HOSTILE,
      sidecars: [{ file: HOSTILE, bytes: 0, state: 'damaged', facts: { [HOSTILE]: HOSTILE } }],
      findings: [
        finding('RecordChecksum', 'error', { file: HOSTILE, message: HOSTILE, detail: { bitFlip: flip } as never }),
      ],
      notChecked: [HOSTILE],
    });
    const texts = [
      renderVerifyJson(verifyReport([shard], 0, { roots: [rootReport({ path: HOSTILE, nodeId: HOSTILE })] }), TOOL),
      renderShardLine(shard),
      renderRootLine(rootReport({ streams: [{ name: HOSTILE, text: HOSTILE }], deleted: [HOSTILE] })),
      renderSummaryLine(summaryOf([], 0), { name: HOSTILE, version: HOSTILE }, false),
    ];
    for (const text of texts) {
      expect(text).not.to.match(UNSAFE);
      expect(() => JSON.parse(text)).not.to.throw();
    }
    expect(JSON.parse(texts[1]!)).to.deep.include({ path: HOSTILE, name: HOSTILE, key: HOSTILE });
    expect(JSON.parse(texts[1]!).sidecars[0].facts).to.deep.equal({ [HOSTILE]: HOSTILE });
    for (const line of texts.slice(1)) expect(line.indexOf('\n')).to.equal(line.length - 1);
  });

  it('keeps the order in which keys were made', () => {
    expect(toJson({ b: 1n, a: [{ d: 2n, c: null }] })).to.equal('{"b":"1","a":[{"d":"2","c":null}]}');
  });

  it('leaves out what is not known of a site', () => {
    const shard = shardReport({
      segments: [segmentReport(0n, { index: null })],
      findings: [finding('NoSegments', 'error', { site: {} })],
    });
    const parsed = JSON.parse(renderShardLine(shard));
    expect(parsed.findings[0].site).to.deep.equal({});
    expect(parsed.segments[0].index).to.equal(null);
  });
});
