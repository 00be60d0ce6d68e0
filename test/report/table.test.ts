import { expect } from 'chai';
import type { Finding, FindingKind } from '../../src/domain/finding.js';
import type { ShardReport } from '../../src/domain/report.js';
import { bitFlipWords } from '../../src/domain/sentences-segments.js';
import { U64_MAX } from '../../src/domain/units.js';
import { renderVerify, type VerifyOptions, verifyStream } from '../../src/report/table.js';
import { displayWidth } from '../../src/report/wrap.js';
import {
  DEFAULTS,
  finding,
  HOSTILE,
  prediction,
  RAW,
  rootReport,
  segmentReport,
  shardReport,
  summaryOf,
  verifyReport,
  zeroTailShard,
} from '../builders/reports.js';

const OPTIONS: VerifyOptions = { all: false, quiet: false, settings: DEFAULTS };
const WIDTHS = [40, 60, 80, 120] as const;

function textOf(shard: ShardReport, options: Partial<VerifyOptions> = {}, width = 80, exitCode = 0): string {
  return renderVerify(verifyReport([shard], exitCode), { width, color: 0, unicode: true }, { ...OPTIONS, ...options });
}

/** The text with its wrapping undone. */
function flat(text: string): string {
  return text.replace(/\s+/g, ' ');
}

function expectFits(text: string, width: number): void {
  for (const line of text.split('\n')) {
    expect(displayWidth(line), line).to.be.at.most(width);
    expect(line).to.equal(line.trimEnd());
    expect(line).not.to.match(RAW);
  }
}

function many(count: number, kind: FindingKind = 'RecordChecksum', parts: Partial<Finding> = {}): Finding[] {
  return Array.from({ length: count }, (_, at) =>
    finding(kind, 'error', {
      site: { segment: 1n, position: 100 + 10 * at },
      damagedRange: { from: 100 + 10 * at, to: 110 + 10 * at },
      lostOffsets: { from: BigInt(at), to: BigInt(at + 1) },
      ...(parts as object),
    }),
  );
}

describe('report/table', () => {
  it('tells the verdict, the place, the loss and the next command within the first screen', () => {
    const lines = textOf(zeroTailShard(), {}, 80, 22).split('\n');
    expect(lines).to.deep.equal([
      'acme/default/orders/0                     acme_default_orders_0-0d3aed4b998d2798',
      'A broker with default settings REFUSES to open this shard',
      '  RecordHeaderChecksum in segment 2 at byte 426',
      '',
      'FATAL   segment 2, bytes 426..4522                          RecordHeaderChecksum',
      '        4,096 zero bytes after the last record: unwritten space, nothing',
      '        follows.',
      '        Lost: no record.',
      '        Next: felix-fsck repair-tail --allow zero-tail \\',
      '              /data/acme_default_orders_0-0d3aed4b998d2798',
      '',
      'segment  version  offsets  records  bytes  verified  damaged  index',
      '0        3        0..8           8    434       all        0  ok',
      '1        3        8..15          7    391       all        0  ok',
      '2        3        15..21         6  4,522       426    4,096  ok, rewritten at',
      '                                                              open',
      '21 records in 3 segments, 5,347 bytes checked, 4,096 damaged, 0 unread',
      'Records from 2026-01-01T00:00:00.000000Z to 2026-01-01T00:00:00.000003Z',
      '',
      'Findings: none',
      'Exit 22: a broker refuses to open at least one shard',
      'Keep the broker stopped. Run the command under Next of the worst finding;',
      '  felix-fsck explain KIND tells the ways out and what each loses.',
      '',
    ]);
  });

  it('says of a sound shard that there is nothing to repair', () => {
    const text = textOf(shardReport());
    expect(text).to.include('A broker with default settings opens this shard with nothing to repair\n');
    expect(text).to.include('24 records in 3 segments, 1,302 bytes checked, 0 damaged, 0 unread');
    expect(text).not.to.include('  damaged  ');
  });

  it('does not say that there is nothing to repair when something is lost or was not judged', () => {
    const lossy = shardReport({ findings: [finding('CommitBeyondTail', 'error')] });
    expect(textOf(lossy)).to.include('opens this shard\n');
    const unseen = shardReport({ prediction: prediction({ notJudged: ['segment 1 could not be read'] }) });
    const text = textOf(unseen);
    expect(text).to.include('opens this shard\n').and.to.include('  Not judged: segment 1 could not be read');
  });

  it('names what is cut and how much of it is intact', () => {
    const repair = { action: 'truncate', file: '00000000000000000002.log', fromBytes: 500, toBytes: 423 } as const;
    const verdict = (recordsLost: number, intactRecordsLost: number) =>
      flat(
        textOf(
          shardReport({
            prediction: prediction({ verdict: 'repairs', repairs: [{ ...repair, recordsLost, intactRecordsLost }] }),
          }),
        ),
      );
    expect(verdict(0, 0)).to.include(
      'opens this shard after cutting 77 bytes (0 records) from segment 2 The next offset is then 24.',
    );
    expect(verdict(3, 2)).to.include(
      '77 bytes (3 records) from segment 2 2 of these records are intact, and would be lost',
    );
  });

  it('names every other repair', () => {
    const base = { fromBytes: 32, toBytes: 0, recordsLost: 0, intactRecordsLost: 0 };
    const text = textOf(
      shardReport({
        prediction: prediction({
          verdict: 'repairs',
          repairs: [
            { ...base, action: 'delete-segment', file: '00000000000000000003.log' },
            { ...base, action: 'delete-blank-first', file: '00000000000000000000.log' },
            { ...base, action: 'create-segment', file: '00000000000000000000.log' },
            { ...base, action: 'rebuild-index', file: '00000000000000000001.index' },
          ],
        }),
      }),
    );
    expect(text).to.include('opens this shard after 4 repairs:\n');
    expect(text).to.include('  deleting segment 3 (32 bytes, 0 records)\n');
    expect(text).to.include('  deleting the blank segment 0 (32 bytes, no record)\n');
    expect(text).to.include('  beginning an empty log in a new segment 0\n');
    expect(text).to.include('  rebuilding the index of segment 1\n');
  });

  it('names the settings of the broker', () => {
    const named = (settings: Partial<typeof DEFAULTS>) =>
      flat(textOf(shardReport(), { settings: { ...DEFAULTS, ...settings } }));
    expect(named({ repairChecksumTail: true })).to.include('A broker with repair_checksum_tail opens');
    expect(named({ verifyAllOnOpen: true, repairChecksumTail: true, indexSpacing: 512 })).to.include(
      'A broker with repair_checksum_tail, verify_all_on_open and an index spacing of 512 opens',
    );
  });

  it('shows the first reasons for a refusal and counts the rest', () => {
    const refusals = Array.from({ length: 9 }, (_, at) => ({
      kind: 'RecordChecksum' as const,
      site: { segment: 1n, position: at },
    }));
    const text = textOf(shardReport({ prediction: prediction({ verdict: 'refuses', refusals }) }));
    expect(text).to.include('RecordChecksum in segment 1 at byte 2\n').and.not.to.include('at byte 3\n');
    expect(text).to.include('and 6 more reasons, each enough by itself');
  });

  it('names the file of a refusal that is not about a segment', () => {
    const site = { shard: 's', position: 24 };
    const shard = shardReport({
      findings: [finding('SidecarChecksum', 'fatal', { site, file: 'replica' })],
      prediction: prediction({
        verdict: 'refuses',
        refusals: [
          { kind: 'SidecarChecksum', site },
          { kind: 'SidecarField', site },
          { kind: 'SegmentFileName', site: {} },
        ],
      }),
    });
    const text = textOf(shard);
    expect(text).to.include('  SidecarChecksum in replica at byte 24\n  SidecarField at byte 24\n');
    expect(text).to.include('  SegmentFileName in the directory\n');
  });

  it('says in one line which reads fail', () => {
    const readsThatFail = Array.from({ length: 5 }, (_, at) => ({
      kind: 'RecordChecksum' as const,
      site: { segment: 0n, position: 86 },
      fromOffset: BigInt(at),
      toOffset: BigInt(at + 1),
    }));
    const text = flat(textOf(shardReport({ prediction: prediction({ readsThatFail }) })));
    expect(text).to.include('opens this shard, but not every record can be read');
    expect(text).to.include(
      'Reads fail that cross offsets 0..1 (RecordChecksum in segment 0 at byte 86), 1..2 (RecordChecksum in segment 0 at byte 86) and 3 more',
    );
  });

  it('puts the worst first, then the order of the log', () => {
    const findings = [
      finding('BatchOrphan', 'info'),
      finding('IndexMissing', 'warning', { file: '00000000000000000001.index', site: { segment: 1n } }),
      finding('RecordChecksum', 'error', { site: { segment: 2n, position: 40 }, file: '00000000000000000002.log' }),
      finding('RecordChecksum', 'error', { site: { segment: 0n, position: 40 }, file: '00000000000000000000.log' }),
      finding('SidecarChecksum', 'fatal', { site: {}, file: 'replica' }),
      finding('DirectoryName', 'error', { site: {}, file: null }),
    ];
    const places = textOf(shardReport({ findings }))
      .split('\n')
      .filter((line) => /^(FATAL|ERROR|WARNING|INFO)/.test(line))
      .map((line) => line.replace(/ {2,}/g, '|'));
    expect(places).to.deep.equal([
      'FATAL|replica|SidecarChecksum',
      'ERROR|the directory|DirectoryName',
      'ERROR|segment 0, byte 40|RecordChecksum',
      'ERROR|segment 2, byte 40|RecordChecksum',
      'WARNING index of segment 1|IndexMissing',
      'INFO|BatchOrphan in segment 1, byte 86: Something is true of the data.',
    ]);
  });

  it('folds a long list of one kind in one file with its count, and unfolds it when asked to', () => {
    const shard = shardReport({ findings: many(500) });
    const folded = textOf(shard);
    expect(folded.match(/^ERROR/gm)).to.have.length(4);
    expect(flat(folded)).to.include(
      'ERROR and 497 more of RecordChecksum in segment 1, bytes 130..5100; 497 records lost in them (--all lists them)',
    );
    expect(textOf(shard, { all: true }).match(/^ERROR/gm)).to.have.length(500);
  });

  it('does not fold what is of several kinds or in several files', () => {
    const findings = [0n, 1n, 2n].flatMap((segment) =>
      many(4, 'RecordChecksum', { file: `${segment}.log`, site: { segment } }),
    );
    expect(textOf(shardReport({ findings })).match(/^ERROR/gm)).to.have.length(12);
  });

  it('counts findings that were not kept', () => {
    const omitted = [{ file: '00000000000000000001.log', kind: 'RecordChecksum' as const, count: 12_345 }];
    expect(textOf(shardReport({ omitted }))).to.include('and 12,345 more of RecordChecksum in');
  });

  it('gives what is merely worth knowing a line each while few, and a line a kind when many', () => {
    const infos = (count: number) =>
      Array.from({ length: count }, (_, at) =>
        finding('BatchAbandoned', 'info', { site: { segment: 1n, position: at }, next: 'felix-fsck explain X' }),
      );
    const few = textOf(shardReport({ findings: infos(5) }));
    expect(few.match(/^INFO/gm)).to.have.length(5);
    const crowd = textOf(shardReport({ findings: [...infos(900), finding('HistoryHole', 'info')] }));
    expect(crowd.match(/^INFO/gm)).to.have.length(2);
    expect(flat(crowd)).to.include('INFO 900 of BatchAbandoned, the first in segment 1, byte 0 (--all lists them)');
    expect(textOf(shardReport({ findings: infos(900) }), { all: true }).match(/^INFO/gm)).to.have.length(900);
  });

  it('tells a flipped bit and how likely it is chance, once', () => {
    const flip = { position: 130, bit: 3, field: 'timestamp_micros', chance: 2.3e-10 };
    const message = `The record does not match; ${bitFlipWords(flip)}; 1 record lost: offset 9.`;
    const text = flat(
      textOf(
        shardReport({
          findings: [
            finding('RecordChecksum', 'error', {
              detail: { bitFlip: flip } as never,
              looksLike: 'bit-flip',
              lostOffsets: { from: 9n, to: 10n },
              message,
            }),
          ],
        }),
      ),
    );
    expect(text).to.include(
      'The record does not match. Lost: 1 record, offset 9. Looks like: one flipped bit. Bit 3 of byte 130 ' +
        '(timestamp_micros) alone explains it; the chance that random damage looks so is about 1 in 4,300,000,000.',
    );
  });

  it('says what damaged bytes look like unless the sentence does', () => {
    const looking = (looksLike: string, message: string) =>
      textOf(shardReport({ findings: [finding('RecordChecksum', 'error', { looksLike, message })] }));
    expect(looking('torn-write', 'It is damaged.')).to.include('Looks like: a torn write.');
    expect(looking('constructor', 'It is damaged.')).to.include('Looks like: constructor.');
    expect(looking('text', 'The bytes look like text.')).not.to.include('Looks like:');
    expect(looking('zeros', '12 zero bytes.')).not.to.include('Looks like:');
  });

  it('tells a command once a shard', () => {
    const findings = many(3).map((each) => ({ ...each, next: 'felix-fsck salvage S --to DIR' }));
    expect(textOf(shardReport({ findings })).match(/Next:/g)).to.have.length(1);
  });

  it('states losses as one record, several, or none', () => {
    const losing = (from: bigint, to: bigint) =>
      textOf(shardReport({ findings: [finding('RecordChecksum', 'error', { lostOffsets: { from, to } })] }));
    expect(losing(5n, 5n)).to.include('Lost: no record.');
    expect(losing(5n, 6n)).to.include('Lost: 1 record, offset 5.');
    expect(losing(0n, U64_MAX)).to.include('Lost: 18,446,744,073,709,551,615 records, offsets');
  });

  it('shows the state of indexes, unread bytes, and what is not known', () => {
    const index = (id: string, parts: object) => ({
      file: `${id}.index`,
      entries: 3,
      usable: true,
      checkedEntries: 1,
      notJudgedEntries: 0,
      ...parts,
    });
    const segments = [
      segmentReport(0n, { index: null, unreadBytes: 100, verifiedBytes: 334 }),
      segmentReport(1n, { index: index('1', { usable: false }) }),
      segmentReport(2n, { index: index('2', { notJudgedEntries: 2 }) }),
      segmentReport(3n, { index: index('3', {}) }),
      segmentReport(4n, { index: index('4', { usable: false }), version: null, baseOffset: null, nextOffset: null }),
    ];
    const findings = [
      finding('IndexEntry', 'warning', { file: '3.index' }),
      finding('IndexTornEntry', 'info', { file: '2.index' }),
    ];
    const text = textOf(shardReport({ segments, findings }), {}, 120);
    expect(text).to.match(/^0 .* 334 +100 {2}none$/m);
    expect(text).to.match(/^1 .*unusable, rebuilt at open$/m);
    expect(text).to.match(/^2 .*ok, 2 entries not judged$/m);
    expect(text).to.match(/^3 .*1 fault$/m);
    expect(text).to.match(/^4 +\? +\?\.\.\? .*unusable, rewritten at open$/m);
    expect(text).to.include('2,070 bytes checked, 0 damaged, 100 unread');
  });

  it('shows the damaged among very many segments, and counts the rest', () => {
    const segments = Array.from({ length: 2_000 }, (_, at) =>
      segmentReport(BigInt(at), at === 500 ? { damagedBytes: 4, verifiedBytes: 430 } : {}),
    );
    const text = textOf(shardReport({ segments }));
    expect(text.match(/^\d+ +3 /gm)).to.have.length(3);
    expect(text).to.match(/^500 /m).and.to.include('and 1,997 more segments (--all lists them)');
    expect(textOf(shardReport({ segments }), { all: true }).match(/^\d+ +3 /gm)).to.have.length(2_000);
  });

  it('tells where history is, the small files, and what was not checked', () => {
    const text = textOf(
      shardReport({
        coverage: [
          { from: 0n, to: 8n, where: 'offloaded' },
          { from: 8n, to: 9n, where: 'nowhere' },
          { from: 9n, to: 15n, where: 'both' },
          { from: 15n, to: 24n, where: 'local' },
        ],
        sidecars: [
          { file: 'epochs', bytes: 1, state: 'sound', facts: {} },
          { file: 'keys.idx', bytes: 1, state: 'damaged', facts: {} },
          { file: 'replica', bytes: 1, state: 'sound', facts: {} },
        ],
        notChecked: ['producers: the log begins too late'],
      }),
    );
    expect(text).to.include('Offsets 0..8: offloaded only\n');
    expect(text).to.include('Offsets 8..9: neither here nor offloaded\n');
    expect(text).to.include('Offsets 9..15: here and offloaded\n');
    expect(text).to.include('Offsets 15..24: here only\n');
    expect(text).to.include('Small files: keys.idx damaged; epochs, replica sound\n');
    expect(text).to.include('Not checked: producers: the log begins too late\n');
    const empty = textOf(shardReport({ coverage: [] }));
    expect(empty).to.include('The manifest names no offloaded offset\n');
  });

  it('folds long coverage', () => {
    const coverage = Array.from({ length: 100 }, (_, at) => ({
      from: BigInt(at),
      to: BigInt(at + 1),
      where: 'local' as const,
    }));
    expect(textOf(shardReport({ coverage }))).to.include('and 80 more ranges (--all lists them)');
  });

  it('prints the largest u64 of everything', () => {
    const last = segmentReport(U64_MAX, {
      baseOffset: U64_MAX,
      nextOffset: U64_MAX,
      firstTimestampMicros: U64_MAX,
      lastTimestampMicros: U64_MAX,
    });
    const text = textOf(shardReport({ segments: [last], baseOffset: U64_MAX, tailOffset: U64_MAX }));
    expect(flat(text)).to.include(
      'Records from 18446744073709551615 microseconds to 18446744073709551615 microseconds',
    );
    for (const width of WIDTHS) expectFits(textOf(shardReport({ segments: [last] }), {}, width), width);
  });
});

describe('report/table, of many shards', () => {
  const named = (at: number, parts: Partial<ShardReport> = {}) =>
    shardReport({ key: `acme/default/orders/${at}`, name: `acme_default_orders_${at}-0123456789abcdef`, ...parts });

  it('gives the healthy a line each, the others a block, worst first, and a summary', () => {
    const bad = zeroTailShard();
    const shards = [named(1), named(2, { findings: [finding('IndexMissing', 'warning')] }), named(3), bad];
    const text = renderVerify(verifyReport(shards, 22), { width: 80, color: 0, unicode: true }, OPTIONS);
    const order = [
      'orders/0  ',
      'orders/2  ',
      'sound acme/default/orders/1:',
      'sound acme/default/orders/3:',
      '4 shards, ',
    ];
    const places = order.map((part) => text.indexOf(part));
    expect(places).to.deep.equal([...places].sort((a, b) => a - b));
    expect(places).not.to.include(-1);
    expect(text).to.include('Refused: 1 shard: acme/default/orders/0\n');
    expect(text).to.include('Opened, with findings: 1 shard: acme/default/orders/2\n');
    expect(text).to.include('sound acme/default/orders/1: 24 records in 3 segments, offsets 0..24\n');
  });

  it('counts the healthy past twenty, and stays short for ten thousand', () => {
    const shards = Array.from({ length: 10_000 }, (_, at) => named(at));
    const text = renderVerify(verifyReport(shards), { width: 80, color: 0, unicode: true }, OPTIONS);
    expect(text.match(/^sound /gm)).to.have.length(20);
    expect(text).to.include('and 9,980 more sound shards (--all lists them)');
    expect(text).to.include('10,000 shards, 30,000 segments');
    expect(text.split('\n').length).to.be.below(32);
  });

  it('names the first of very many bad shards in the summary, and counts the rest', () => {
    const shards = Array.from({ length: 1_000 }, (_, at) => ({ ...zeroTailShard(), key: `k/${at}` }));
    const text = renderVerify(verifyReport(shards, 22), { width: 80, color: 0, unicode: true }, OPTIONS);
    expect(flat(text)).to.include('Refused: 1,000 shards: k/0, k/1, k/2, k/3, k/4 and 995 more');
  });

  it('tells shards of one key apart by their paths', () => {
    const shards = ['/a/s', '/b/s'].flatMap((path) => [shardReport({ path }), { ...zeroTailShard(), key: 'k', path }]);
    const text = renderVerify(verifyReport(shards, 22), { width: 80, color: 0, unicode: true }, OPTIONS);
    expect(text).to.include('sound /a/s: ').and.to.include('sound /b/s: ');
    expect(text).to.include('Refused: 2 shards: /a/s and /b/s\n');
  });

  it('says the same when streamed, in the order of calls', () => {
    const shards = [zeroTailShard(), named(1), named(2)];
    const style = { width: 80, color: 0, unicode: true } as const;
    const stream = verifyStream(style, OPTIONS, 3);
    const parts = shards.map((shard) => stream.shard(shard));
    expect(parts.map((part) => part === '')).to.deep.equal([false, true, true]);
    const whole = parts.join('') + stream.end([], summaryOf(shards, 22), false);
    expect(whole).to.equal(renderVerify(verifyReport(shards, 22), style, OPTIONS));
  });

  it('does not call a run that looked at nothing a success', () => {
    const text = renderVerify(verifyReport([]), { width: 80, color: 0, unicode: true }, OPTIONS);
    expect(text).to.include('No shard was found: nothing was checked.');
  });

  it('says so when it was interrupted', () => {
    const text = renderVerify(
      verifyReport([shardReport()], 130, { partial: true }),
      { width: 80, color: 0, unicode: true },
      OPTIONS,
    );
    expect(text).to.include('INTERRUPTED: this report covers what was read until then\n');
    expect(text).to.include('Exit 130: interrupted');
  });

  it('does not let an exit code 0 that was asked for look like health', () => {
    const shards = [zeroTailShard()];
    const summary = summaryOf(shards, 0, { worst: 'fatal', findings: { info: 1, warning: 0, error: 0, fatal: 2 } });
    const text = renderVerify(verifyReport(shards, 0, { summary }), { width: 80, color: 0, unicode: true }, OPTIONS);
    expect(text).to.include('Findings: 2 fatal, 1 info\nExit 0: as asked, these findings do not fail the run\n');
  });

  it('is quiet about all that is well', () => {
    const quiet = { ...OPTIONS, quiet: true };
    const style = { width: 80, color: 0, unicode: true } as const;
    expect(renderVerify(verifyReport([named(1)], 0, { roots: [rootReport()] }), style, quiet)).to.equal('');
    const infos = shardReport({ findings: [...many(1), finding('BatchOrphan', 'info')] });
    const text = renderVerify(verifyReport([infos, named(1)], 21), style, quiet);
    expect(text)
      .to.include('ERROR')
      .and.to.include('Exit 21')
      .and.not.to.match(/INFO|sound|records in/);
  });

  it('shows a data root, and what it does not have', () => {
    const roots = [
      rootReport({
        findings: [finding('StorageIdMismatch', 'warning', { file: 'run-state', site: {} })],
        runState: { state: 'running', acknowledgesBeforeSync: true, id: 'b' },
        nodeId: null,
        streams: [{ name: 's', text: 't' }],
        deleted: ['x'],
      }),
    ];
    const text = renderVerify(verifyReport([], 20, { roots }), { width: 80, color: 0, unicode: true }, OPTIONS);
    expect(text).to.include(
      [
        'Data root /data',
        '',
        'WARNING run-state                                              StorageIdMismatch',
        '        Something is true of the data.',
        '',
        'Storage id: 00112233-4455-6677-8899-aabbccddeeff',
        'Run state: running, acknowledges before sync, storage id b',
        'Registration: 18446744073709551615',
        'Layout of storage-id: padded',
        'Stream s: t',
        'Deleted, not looked at: 1 entry',
        'Not known: node id',
        '',
      ].join('\n'),
    );
  });
});

describe('report/table, whatever the data', () => {
  const hostile = shardReport({
    path: HOSTILE,
    name: HOSTILE,
    key: `${HOSTILE}/漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字`,
    sidecars: [{ file: HOSTILE, bytes: 1, state: 'damaged', facts: {} }],
    notChecked: [HOSTILE],
    omitted: [{ file: HOSTILE, kind: 'RecordChecksum', count: 2 }],
    findings: [
      ...many(9),
      finding('StrayFile', 'info', { file: HOSTILE, message: HOSTILE }),
      finding('SidecarField', 'fatal', {
        file: `${HOSTILE}${'x'.repeat(300)}`,
        site: {},
        message: HOSTILE,
        looksLike: HOSTILE,
        next: `felix-fsck ${HOSTILE} ${'y'.repeat(300)}`,
      }),
    ],
    prediction: prediction({
      verdict: 'repairs',
      repairs: [{ action: 'truncate', file: HOSTILE, fromBytes: 1, toBytes: 0, recordsLost: 1, intactRecordsLost: 1 }],
      notJudged: [HOSTILE],
    }),
  });
  const roots = [rootReport({ path: HOSTILE, storageId: HOSTILE, nodeId: HOSTILE, layouts: { [HOSTILE]: HOSTILE } })];
  const shards = [hostile, zeroTailShard(), shardReport({ key: null, name: HOSTILE })];
  const report = verifyReport(shards, 22, { roots, partial: true });

  for (const width of WIDTHS) {
    it(`stays within ${width} columns, with no trailing space and no character that a terminal obeys`, () => {
      for (const all of [false, true]) {
        expectFits(renderVerify(report, { width, color: 0, unicode: true }, { ...OPTIONS, all }), width);
      }
    });

    it(`says the same in colour at ${width} columns`, () => {
      const plain = renderVerify(report, { width, color: 0, unicode: true }, OPTIONS);
      const colored = renderVerify(report, { width, color: 1, unicode: true }, OPTIONS);
      expect(colored).to.include('\u001b[');
      expect(colored.replace(/\u001b\[\d+m/g, '')).to.equal(plain);
    });
  }

  it('writes ASCII alone when asked to', () => {
    const text = renderVerify(report, { width: 80, color: 0, unicode: false }, OPTIONS);
    expect(text).to.match(/^[ -~\n]*$/);
    expect(text).to.include('\\u{6f22}');
  });
});
