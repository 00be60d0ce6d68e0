/** Lines of a broker's log, written by hand after what brokers print. */
import { expect } from 'chai';
import fc from 'fast-check';
import { BROKER_PHRASES, parseBrokerLine } from '../../src/domain/broker-phrases.js';
import { hostile } from './finding-details.js';

const SITE = '(shard=acme/default/orders/0, segment=2, position=426)';
const AT = { shard: 'acme/default/orders/0', segment: 2n, position: 426 };

/** What follows `corruption detected: `, and what it says. */
const ERRORS: readonly (readonly [text: string, kind: string, fields: object])[] = [
  ['bad segment magic 0x1f8b0800', 'SegmentMagic', { found: '0x1f8b0800' }],
  ['unsupported segment version 7', 'SegmentVersion', { found: 7 }],
  ['unknown segment flags 0x1', 'SegmentFlags', { found: '0x0001' }],
  [
    'segment header checksum mismatch (expected 0xadeb65e9, found 0x1)',
    'SegmentHeaderChecksum',
    { expected: '0xadeb65e9', found: '0x00000001' },
  ],
  ['bad index magic 0x00000000', 'IndexMagic', { found: '0x00000000' }],
  ['unsupported index version 9', 'IndexVersion', { found: 9 }],
  ['truncated: needed 65 bytes, 20 available', 'Truncated', { needed: 65, available: 20 }],
  [
    'record checksum mismatch (expected 0x2402152c, found 0xC654DE27)',
    'RecordChecksum',
    { expected: '0x2402152c', found: '0xc654de27' },
  ],
  [
    'record header checksum mismatch (expected 0x00000000, found 0xc2b6d0f5)',
    'RecordHeaderChecksum',
    { expected: '0x00000000', found: '0xc2b6d0f5' },
  ],
  ['record payload 536870911 exceeds limit 67108864', 'RecordTooLarge', { payloadLen: 536_870_911, limit: 67_108_864 }],
  ['impossible record flags 0xc0000000', 'RecordFlags', { found: '0xc0000000' }],
  [
    'offset out of order (expected 18446744073709551615, found 9007199254740993)',
    'OffsetOutOfOrder',
    { expected: 18_446_744_073_709_551_615n, found: 9_007_199_254_740_993n },
  ],
];

const WARNINGS: readonly (readonly [text: string, expected: object])[] = [
  ['repaired a torn tail in the active segment', { kind: 'Truncated' }],
  ['discarding a headerless segment left behind by an uninstalled rollover', { kind: 'AbandonedSegment' }],
  ['discarding an empty segment left behind by an uninstalled rollover', { kind: 'AbandonedSegment' }],
  ['the generation history is unreadable and was ignored', { kind: 'SidecarChecksum', file: 'epochs' }],
  [
    'the producer snapshot is unreadable; rebuilding producer state from the log',
    { kind: 'SidecarChecksum', file: 'producers' },
  ],
];

describe('broker phrases', () => {
  for (const [text, kind, fields] of ERRORS) {
    it(`reads ${kind}, its fields and its site`, () => {
      const parsed = parseBrokerLine(`corruption detected: ${text} ${SITE}`);
      expect(parsed).to.deep.include({ kind, ...fields, ...AT });
    });
  }

  for (const [text, expected] of WARNINGS) {
    it(`reads the warning "${text}"`, () => {
      const line = `2026-01-02T03:04:05.678Z  WARN felix_storage::segment: ${text} shard=acme/default/orders/0 segment=2`;
      expect(parseBrokerLine(line)).to.deep.include({ ...expected, shard: 'acme/default/orders/0', segment: 2n });
    });
  }

  it('holds the phrase that each entry shows', () => {
    for (const { text, pattern, kind } of BROKER_PHRASES) {
      expect(text.replace(/0x…/g, '0x1').replace(/\bN\b/g, '1').replace(/\bM\b/g, '2'), kind).to.match(pattern);
    }
    expect(BROKER_PHRASES.map(({ text }) => text.split(' ')[0])).to.have.length(ERRORS.length + WARNINGS.length);
  });

  it('finds the phrase within other text, colours and wrapped lines', () => {
    const line =
      '\u001b[2m2026-01-02T03:04:05Z\u001b[0m \u001b[31mERROR\u001b[0m felix: open failed: corruption detected: record\n' +
      `  checksum \u001b[1mmismatch\u001b[0m (expected 0x1, found 0x2) ${SITE}, giving up`;
    expect(parseBrokerLine(line)).to.deep.include({ kind: 'RecordChecksum', found: '0x00000002', ...AT });
  });

  it('reads fields of structured logs', () => {
    expect(
      parseBrokerLine(
        '{"level":"WARN","message":"repaired a torn tail in the active segment","shard":"a b/c/d/0","segment":2,"position":426}',
      ),
    ).to.deep.include({ kind: 'Truncated', shard: 'a b/c/d/0', segment: 2n, position: 426 });
    expect(
      parseBrokerLine(
        '\u001b[33mWARN\u001b[0m repaired a torn tail in the active segment \u001b[3msegment\u001b[0m\u001b[2m=\u001b[0m7',
      ),
    ).to.deep.include({ kind: 'Truncated', segment: 7n });
  });

  it('leaves out what is not there', () => {
    expect(parseBrokerLine('record checksum mismatch')).to.deep.equal({
      kind: 'RecordChecksum',
      phrase: 'record checksum mismatch (expected 0x…, found 0x…)',
    });
    expect(parseBrokerLine('truncated: needed 65 bytes, 20 available (segment=3)')).to.deep.include({ segment: 3n });
    expect(parseBrokerLine('truncated: needed 65 bytes, 20 available (segment=3)')).not.to.have.any.keys(
      'shard',
      'position',
    );
    expect(parseBrokerLine('truncated: needed 65 bytes (shard=a/b/c/0)')).to.deep.include({
      needed: 65,
      shard: 'a/b/c/0',
    });
    expect(parseBrokerLine('bad segment magic 0x123456789 (position=0)')).to.deep.include({ position: 0 });
    expect(parseBrokerLine('bad segment magic 0x123456789')).not.to.have.property('found');
  });

  it('takes a label with brackets, commas and equals signs whole', () => {
    const shard = 'a(1)/b, c/d=e)/0';
    expect(parseBrokerLine(`bad index magic 0x0 (shard=${shard}, segment=1, position=0)`)).to.deep.include({
      shard,
      segment: 1n,
      position: 0,
    });
    expect(parseBrokerLine(`bad index magic 0x0 (shard=a/b/c/0) then bad index magic 0x1 ${SITE}`)).to.deep.include({
      shard: 'a/b/c/0',
    });
  });

  it('takes the first of several phrases', () => {
    const line = `truncated: needed 2 bytes, 1 available ${SITE}: record checksum mismatch (expected 0x1, found 0x2)`;
    expect(parseBrokerLine(line)?.kind).to.equal('Truncated');
  });

  it('knows nothing of other lines, and never throws', () => {
    for (const line of ['', 'listening on 0.0.0.0:5000', 'corruption', 'checksum mismatch', 'not found']) {
      expect(parseBrokerLine(line)).to.equal(null);
    }
    fc.assert(fc.property(hostile, hostile, (a, b) => void parseBrokerLine(`${a}offset out of order (expected ${b}`)));
  });

  it('takes no longer than the line is', () => {
    for (const piece of ['(shard=', '\u001b]', 'truncated: needed ', ', segment=1', 'shard="', '\u001b[0;']) {
      const started = performance.now();
      parseBrokerLine(`bad index magic ${piece.repeat(1_000_000 / piece.length)}`);
      expect(performance.now() - started, piece).to.be.lessThan(1000);
    }
  });
});
