/**
 * What a damaged record is taken for: each story told whole, and none where the bytes do not bear it out.
 */
import { crc32 } from 'node:zlib';
import { expect } from 'chai';
import { concatBytes, encodeUtf8, writeU32, writeU64 } from '../../src/format/bytes.js';
import { encodeRecord, type LogRecord, MAX_PAYLOAD_BYTES } from '../../src/format/record.js';
import {
  betweenRecordsEvidence,
  crlfRecordEvidence,
  cutOffEvidence,
  displacedHeaderEvidence,
  duplicateEvidence,
  endsEarlyEvidence,
  isMostlyHeader,
  movedBodyEvidence,
  repeatedRecordEvidence,
  tornHeaderEvidence,
  withoutCarriageReturns,
  zeroEndEvidence,
} from '../../src/scan/evidence-record.js';
import { type EvidenceContext, lookAt, type Recogniser, type View } from '../../src/scan/evidence-view.js';
import { type ByteSource, MemorySource } from '../../src/store/byte-source.js';
import { seededRandom } from '../builders/random.js';
import { generationStart, opens, plain } from '../builders/records.js';
import { FilledSource } from './counting-source.js';

const NOISE = seededRandom(55).bytes(20_000);
/** Where the record stands; what is in front of it are ones, or what a test says. */
const AT = 100;
const FRONT = new Uint8Array(AT).fill(0xff);
const OFFSET = 21n;
const NEXT = encodeRecord(plain(OFFSET + 1n, { payload: NOISE.subarray(0, 40) }));

interface Looked extends Partial<EvidenceContext> {
  /** Of the record and what is behind it, from its start on. */
  readonly bytes: Uint8Array;
  /** Where the damage ends, from the record's start on; at the end of the file when left out. */
  readonly to?: number;
  readonly front?: Uint8Array;
  readonly kind?: 'RecordHeaderChecksum' | 'RecordChecksum' | 'Truncated';
}

function viewOf({ bytes, to = bytes.length, front = FRONT, kind = 'RecordHeaderChecksum', ...context }: Looked): View {
  const source = new MemorySource(concatBytes([front, bytes]));
  const range = { from: front.length, to: front.length + to };
  return lookAt(source, range, kind, { expectedOffset: OFFSET, ...context });
}

/** `slug: phrase`, or null. */
function said(recognise: Recogniser, looked: Looked): string | null {
  const found = recognise(viewOf(looked));
  return found === null ? null : `${found.slug}: ${found.phrase}`;
}

function payloadOf(length: number): LogRecord {
  return plain(OFFSET, { payload: NOISE.subarray(100, 100 + length) });
}

const record = (length = 200) => encodeRecord(payloadOf(length));

function insert(bytes: Uint8Array, at: number, extra: Uint8Array): Uint8Array {
  return concatBytes([bytes.subarray(0, at), extra, bytes.subarray(at)]);
}

function remove(bytes: Uint8Array, at: number, count: number): Uint8Array {
  return concatBytes([bytes.subarray(0, at), bytes.subarray(at + count)]);
}

function put(bytes: Uint8Array, at: number, over: Uint8Array): Uint8Array {
  return concatBytes([bytes.subarray(0, at), over, bytes.subarray(at + over.length)]);
}

/** A header that verifies; its length word says what the caller likes. */
function headerOf(lengthWord: number, checksum = 0): Uint8Array {
  const bytes = new Uint8Array(28);
  writeU32(bytes, 0, lengthWord);
  writeU64(bytes, 4, OFFSET);
  writeU64(bytes, 12, 1_767_225_600_000_000n);
  writeU32(bytes, 20, crc32(bytes.subarray(0, 20)));
  writeU32(bytes, 24, checksum);
  return bytes;
}

describe('a header that is one for the most part', () => {
  it('has the offset that is due in its place, and is there whole', () => {
    const bytes = record();
    bytes[0]! ^= 0xff;
    expect(isMostlyHeader(viewOf({ bytes, to: 28 }))).to.equal(true);
    expect(isMostlyHeader(viewOf({ bytes, to: 27 }))).to.equal(false);
    expect(isMostlyHeader(viewOf({ bytes, to: 3 }))).to.equal(false);
    expect(isMostlyHeader(viewOf({ bytes, expectedOffset: OFFSET + 1n }))).to.equal(false);
    expect(isMostlyHeader(viewOf({ bytes, expectedOffset: null }))).to.equal(false);
  });
});

describe('a record cut off', () => {
  const whole = record();

  it('was never finished when the file ends inside it', () => {
    const cut = { bytes: whole.subarray(0, 100), resumedAt: null };
    expect(said(cutOffEvidence, cut)).to.equal(
      'torn-write: a record that was never finished: 100 bytes out of 228 bytes are there',
    );
    expect(said(cutOffEvidence, { bytes: whole, resumedAt: null })).to.equal(null);
  });

  it('is cut short when the next one follows before its length is over', () => {
    const bytes = concatBytes([whole.subarray(0, 150), NEXT]);
    const cut = (resumedAt: number) => said(cutOffEvidence, { bytes, to: 150, resumedAt: AT + resumedAt });
    expect(cut(150)).to.equal(
      'torn-write: a record cut short: 150 bytes of it are there, 78 bytes fewer than its length says, and the next ' +
        'record follows',
    );
    expect(cut(228)).to.equal('torn-write: a record that was never finished: 150 bytes out of 228 bytes are there');
  });

  it('ends early where an intact record begins in front of its end', () => {
    const early = (claimedEnd: number | null, resumedAt: number | null) =>
      said(endsEarlyEvidence, { bytes: whole, claimedEnd, resumedAt });
    expect(early(AT + 228, AT + 197)).to.equal(
      'torn-write: a record cut short: 197 bytes of it are there, 31 bytes fewer than its length says, and the next ' +
        'record follows',
    );
    expect(early(AT + 228, AT + 228)).to.equal(null);
    expect(early(AT + 228, null)).to.equal(null);
    expect(early(null, AT + 197)).to.equal(null);
  });

  const head = record().subarray(0, 28);
  const part = (length: number) => `torn-write: the first ${length} bytes of a record header that was never finished`;
  const lengthWord = (word: number) => put(head, 0, headerOf(word).subarray(0, 4)).subarray(0, 20);
  const cut = (bytes: Uint8Array, expectedOffset: bigint | null = OFFSET) =>
    said(cutOffEvidence, { bytes, expectedOffset });

  it('is seen in the first bytes of its header, from the first one of its offset on', () => {
    for (const length of [5, 11, 12, 27]) expect(cut(head.subarray(0, length))).to.equal(part(length));
    expect(cut(head.subarray(0, 4))).to.equal(null);
    expect(cut(put(head, 13, Uint8Array.of(9)))).to.equal(null);
    for (const at of [4, 8, 11]) expect(cut(put(head, at, Uint8Array.of(9)).subarray(0, 20))).to.equal(null);
    expect(cut(put(head, 12, Uint8Array.of(9)).subarray(0, 20))).to.equal(part(20));
    expect(cut(head.subarray(0, 20), null)).to.equal(null);
  });

  it('has a length that can be, of one kind at most', () => {
    for (const bits of [0, 0x2000_0000, 0x4000_0000, 0x8000_0000]) {
      expect(cut(lengthWord(bits + MAX_PAYLOAD_BYTES))).to.equal(part(20));
      expect(cut(lengthWord(bits + MAX_PAYLOAD_BYTES + 1))).to.equal(null);
    }
    for (const bits of [0x6000_0000, 0xa000_0000, 0xc000_0000, 0xe000_0000])
      expect(cut(lengthWord(bits))).to.equal(null);
  });

  it('is not seen in zeros', () => {
    expect(cut(new Uint8Array(20), 0n)).to.equal(null);
    expect(cut(put(new Uint8Array(20), 19, Uint8Array.of(1)), 0n)).to.equal(part(20));
  });
});

describe('bytes that turn into zeros at the end of a sector', () => {
  const torn = (from: number, zeros: number, { header = record(), ...more } = {}) => {
    const boundary = Math.ceil(from / 512) * 512;
    const bytes = concatBytes([header.subarray(0, boundary - from), new Uint8Array(zeros)]);
    return said(tornHeaderEvidence, { bytes, front: new Uint8Array(from).fill(0xff), ...more });
  };

  it('are a torn header where no more than a part of one is in front of them', () => {
    expect(torn(500, 90)).to.equal(
      'torn-write: 12 bytes of a record header, and zeros from byte 512, a boundary of 512 bytes, on',
    );
    expect(torn(4090, 1)).to.equal(
      'torn-write: 6 bytes of a record header, and zeros from byte 4096, a boundary of 4,096 bytes, on',
    );
    expect(torn(500, 0)).to.equal(null);
    expect(torn(500, 90, { header: NOISE })).to.equal(null);
    expect(torn(480, 90)).to.equal(null);
    expect(torn(512, 0)).to.equal(null);
    const bytes = put(concatBytes([record().subarray(0, 12), new Uint8Array(90)]), 101, Uint8Array.of(1));
    expect(said(tornHeaderEvidence, { bytes, front: new Uint8Array(500) })).to.equal(null);
  });

  /** A record at `AT` with other bytes up to `zerosFrom`, then zeros up to `end`, then other bytes. */
  const ended = (zerosFrom: number, end: number) => {
    const bytes = new Uint8Array(end + 40 - AT).fill(0x77);
    bytes.fill(0, zerosFrom - AT, end - AT);
    return said(zeroEndEvidence, { bytes, claimedEnd: end });
  };

  it('are a torn record where they go on to its end', () => {
    const from512 = 'torn-write: a record whose bytes are zeros from byte 512, a boundary of 512 bytes, on';
    expect(ended(512, 528)).to.equal(from512);
    expect(ended(512, 527)).to.equal(null);
    expect(ended(496, 600)).to.equal(from512);
    expect(ended(495, 600)).to.equal(null);
    expect(ended(513, 600)).to.equal(null);
    expect(ended(4090, 4112)).to.equal(
      'torn-write: a record whose bytes are zeros from byte 4096, a boundary of 4,096 bytes, on',
    );
  });

  it('are a torn payload where there is nothing else of it', () => {
    expect(ended(128, 144)).to.equal('torn-write: a record header, and zeros where its payload should be');
    expect(ended(128, 143)).to.equal(null);
    expect(ended(129, 200)).to.equal(null);
    const toRange = { bytes: concatBytes([record().subarray(0, 28), new Uint8Array(16)]) };
    expect(said(zeroEndEvidence, toRange)).to.equal(
      'torn-write: a record header, and zeros where its payload should be',
    );
  });
});

describe('a record whose body was moved', () => {
  const whole = record();
  const moved = (bytes: Uint8Array, to = whole.length) =>
    said(movedBodyEvidence, { bytes: concatBytes([bytes, NEXT, NOISE]), to, kind: 'RecordChecksum' });
  const extra = seededRandom(56).bytes(9);
  const between = (parts: string) =>
    `foreign: a record with 9 bytes of something else between its ${parts}: without them it verifies`;

  it('verifies without the bytes that were put in, which are told by their place', () => {
    expect(moved(insert(whole, 28, extra))).to.equal(between('header and payload'));
    expect(moved(insert(whole, 48, extra))).to.equal(
      `shifted: a record into which 9 bytes were put at byte ${AT + 48}: without them it verifies`,
    );
    expect(moved(whole)).to.equal(null);
  });

  it('is told by the likeliest place where the same bytes on either side leave more than one', () => {
    const same = whole.subarray(28, 37);
    expect(moved(insert(whole, 28, same))).to.equal(between('header and payload'));
    expect(moved(insert(whole, 37, same))).to.equal(between('header and payload'));
  });

  it('may have them in front of its tag, or behind it', () => {
    const tagged = encodeRecord(
      opens(OFFSET, { producerId: 1n, sequence: 2n, len: 1 }, { payload: NOISE.subarray(0, 90) }),
    );
    expect(moved(insert(tagged, 28, extra))).to.equal(between('header and tag'));
    expect(moved(insert(tagged, 48, extra))).to.equal(between('tag and payload'));
    expect(moved(insert(tagged, 60, extra))).to.equal(
      `shifted: a record into which 9 bytes were put at byte ${AT + 60}: without them it verifies`,
    );
  });

  it('ends at the next header that verifies, whatever a payload holds, or else at the end of the file', () => {
    const due = new Uint8Array(8);
    writeU64(due, 0, OFFSET + 1n);
    const holding = encodeRecord(
      plain(OFFSET, { payload: concatBytes([NOISE.subarray(0, 50), due, NOISE.subarray(0, 50)]) }),
    );
    expect(moved(insert(holding, 40, extra), holding.length)).to.equal(
      `shifted: a record into which 9 bytes were put at byte ${AT + 40}: without them it verifies`,
    );
    const last = { bytes: insert(whole, 60, extra), to: whole.length, kind: 'RecordChecksum' as const };
    expect(said(movedBodyEvidence, last)).to.equal(
      `shifted: a record into which 9 bytes were put at byte ${AT + 60}: without them it verifies`,
    );
    const largest = { ...payloadOf(30), offset: 2n ** 64n - 1n };
    const wrapped = { ...last, bytes: insert(encodeRecord(largest), 30, extra), expectedOffset: largest.offset };
    expect(said(movedBodyEvidence, wrapped)).to.contain(`at byte ${AT + 30}`);
  });

  it('is none that only grew', () => {
    expect(moved(concatBytes([whole.subarray(0, 28), NOISE.subarray(0, 209)]))).to.equal(null);
    expect(moved(put(insert(whole, 60, extra), 20, Uint8Array.of(1)))).to.equal(null);
  });

  const lost = (at: number) => `shifted: a record that lost 1 byte at byte ${AT + at}: with them it verifies`;

  it('verifies with the one byte that is missing', () => {
    const bytes = remove(whole, 105, 1);
    expect(whole[104]).to.not.equal(whole[105]);
    expect(moved(bytes, bytes.length)).to.equal(lost(105));
    expect(moved(put(bytes, 100, Uint8Array.of(1, 2)), bytes.length)).to.equal(null);
  });

  it('has lost one byte only when its length says so', () => {
    const body = NOISE.subarray(300, 400);
    const head = headerOf(102);
    writeU32(head, 24, crc32(insert(body, 50, Uint8Array.of(7)), crc32(head.subarray(0, 24))));
    expect(moved(concatBytes([head, body]), 128)).to.equal(null);
    writeU32(head, 0, 101);
    writeU32(head, 20, crc32(head.subarray(0, 20)));
    writeU32(head, 24, crc32(insert(body, 50, Uint8Array.of(7)), crc32(head.subarray(0, 24))));
    expect(moved(concatBytes([head, body]), 128)).to.equal(lost(28 + 50));
  });

  it('is too long to prove a missing byte when more than 16 KiB of its body are there', () => {
    const long = (length: number) => {
      const bytes = remove(record(length), 105, 1);
      return moved(bytes, bytes.length);
    };
    expect(long(16 * 1024 + 1)).to.equal(lost(105));
    expect(long(16 * 1024 + 2)).to.equal(null);
  });
});

describe('a header that verifies with its length and offset put back', () => {
  const whole = record();
  const displaced = (bytes: Uint8Array, to: number, more: Partial<EvidenceContext> = {}) =>
    said(displacedHeaderEvidence, { bytes: concatBytes([bytes, NEXT]), to, resumedAt: AT + to, ...more });

  it('lost bytes at its start, as far as its time is there', () => {
    for (const lost of [1, 5, 11]) {
      expect(displaced(remove(whole, 0, lost), 228 - lost)).to.equal(
        `shifted: a record that lost ${lost === 1 ? '1 byte' : `${lost} bytes`} at byte ${AT}: with them it verifies`,
      );
    }
    expect(displaced(remove(whole, 0, 12), 216)).to.equal(null);
  });

  it('stands up to 64 bytes further on', () => {
    for (const extra of [1, 64]) {
      expect(displaced(insert(whole, 3, NOISE.subarray(0, extra)), 228 + extra)).to.equal(
        `shifted: a record with ${extra === 1 ? '1 byte' : '64 bytes'} put into or in front of its header: without ` +
          'them it verifies',
      );
    }
    expect(displaced(insert(whole, 3, NOISE.subarray(0, 65)), 293)).to.equal(null);
  });

  it('is overwritten where it differs', () => {
    const over = (at: number, text: Uint8Array) => displaced(put(whole, at, text), 228);
    const where = (from: number, to: number) =>
      `over bytes ${AT + from}..${AT + to} of a record header that is otherwise whole`;
    expect(over(2, Uint8Array.of(9, 8, 7))).to.equal(`overwritten: 3 bytes of something else ${where(2, 5)}`);
    expect(over(0, encodeUtf8('notes 128032'))).to.equal(`text: text ${where(0, 12)}`);
    expect(over(5, encodeUtf8('_SEG'))).to.equal(`text: text ${where(5, 9)}`);
    expect(over(5, encodeUtf8('SEG'))).to.equal(`overwritten: 3 bytes of something else ${where(5, 8)}`);
    expect(over(5, Uint8Array.of(0x5f, 0x53, 1, 0x47))).to.equal(
      `overwritten: 4 bytes of something else ${where(5, 9)}`,
    );
  });

  it('is one of each kind, and of each length that can be', () => {
    const rows = [
      record(0),
      encodeRecord(generationStart(OFFSET, 3n)),
      encodeRecord(opens(OFFSET, { producerId: 1n, sequence: 2n, len: 3 }, { payload: new Uint8Array(0) })),
      encodeRecord({ ...plain(OFFSET), kind: 'continues' }),
    ];
    for (const bytes of rows) {
      expect(displaced(put(bytes, 0, Uint8Array.of(0x99, 0x98, 0x97, 0x96)), bytes.length)).to.equal(
        `overwritten: 4 bytes of something else over bytes ${AT}..${AT + 4} of a record header that is otherwise whole`,
      );
    }
    for (const [payloadLen, slug] of [
      [MAX_PAYLOAD_BYTES, 'overwritten'],
      [MAX_PAYLOAD_BYTES + 1, undefined],
    ] as const) {
      const header = put(headerOf(payloadLen), 0, Uint8Array.of(0x99, 0x98, 0x97, 0x96));
      const to = 32 + 28 + payloadLen;
      const source = new FilledSource(to, 0x77, [[32, header]]);
      const view = lookAt(source, { from: 32, to }, 'RecordHeaderChecksum', {
        expectedOffset: OFFSET,
        resumedAt: null,
      });
      expect(displacedHeaderEvidence(view)?.slug).to.equal(slug);
    }
  });

  it('is looked for only where the offset is known, and up to the next record', () => {
    const bytes = put(whole, 2, Uint8Array.of(9, 8, 7));
    expect(displaced(bytes, 228, { expectedOffset: null })).to.equal(null);
    expect(displaced(bytes, 228, { expectedOffset: OFFSET + 1n })).to.equal(null);
    expect(displaced(bytes, 200, { resumedAt: AT + 228 })).to.match(/^overwritten/);
    expect(displaced(bytes, 200)).to.equal(null);
    expect(displaced(bytes, 10)).to.equal(null);
  });
});

describe('line feeds that became two bytes', () => {
  it('are undone pair by pair', () => {
    const undone = (text: string) => {
      const found = withoutCarriageReturns(Buffer.from(text));
      return found === null ? null : [Buffer.from(found.bytes).toString(), found.firstAt];
    };
    expect(undone('a\r\nb\nc\r\n\rd\r')).to.deep.equal(['a\nb\nc\n\rd\r', 1]);
    expect(undone('\r\n')).to.deep.equal(['\n', 0]);
    expect(undone('\r\r\n')).to.deep.equal(['\r\n', 1]);
    expect(undone('a\n\rb')).to.equal(null);
  });

  const mangled = (bytes: Uint8Array) =>
    Uint8Array.from(Array.from(bytes).flatMap((byte) => (byte === 10 ? [13, 10] : [byte])));
  const CLAIM = 'crlf: bytes in which each line feed became a carriage return and a line feed: undone, they verify';
  /** A record of ten bytes, which its header says. */
  const ten = encodeRecord(plain(OFFSET, { payload: encodeUtf8('0123456789') }));
  const header = mangled(ten.subarray(0, 28));
  const crlf = (bytes: Uint8Array, kind: 'RecordHeaderChecksum' | 'RecordChecksum' = 'RecordHeaderChecksum') =>
    said(crlfRecordEvidence, { bytes, kind });

  it('are seen in a header by itself, up to fifteen bytes further on', () => {
    expect(header.length).to.be.above(28);
    expect(crlf(concatBytes([header, new Uint8Array(60).fill(0x77)]))).to.equal(CLAIM);
    const behind = (count: number) => crlf(concatBytes([new Uint8Array(count).fill(0x77), header, new Uint8Array(60)]));
    expect(behind(15)).to.equal(CLAIM);
    expect(behind(16)).to.equal(null);
  });

  it('are not seen where a header verifies as it is, a few bytes further on', () => {
    const intact = encodeRecord(plain(OFFSET, { payload: encodeUtf8('\r\n and more') }));
    expect(intact.subarray(0, 28).includes(10)).to.equal(false);
    expect(crlf(concatBytes([Uint8Array.of(1, 2, 3), intact]))).to.equal(null);
    expect(crlf(concatBytes([Uint8Array.of(13, 10, 3), new Uint8Array(60)]))).to.equal(null);
  });

  it('are seen in a payload, when the whole record verifies without them', () => {
    const lines = encodeRecord(plain(OFFSET, { payload: encodeUtf8('one\ntwo\r\nthree\n') }));
    const bytes = mangled(lines);
    expect(crlf(concatBytes([bytes, NEXT]), 'RecordChecksum')).to.equal(CLAIM);
    expect(crlf(put(bytes, bytes.length - 3, Uint8Array.of(1)), 'RecordChecksum')).to.equal(null);
    expect(crlf(lines.subarray(0, 30), 'RecordChecksum')).to.equal(null);
  });
});

describe('what stands there twice', () => {
  const twice = (length: number, front: number) => ({
    front: concatBytes([new Uint8Array(front), NOISE.subarray(0, length)]),
    bytes: concatBytes([NOISE.subarray(0, length), NEXT]),
    to: length,
  });

  it('is sixteen bytes at least, and no part of the segment header', () => {
    expect(said(duplicateEvidence, twice(16, 32))).to.equal('duplicate: the 16 bytes just in front of it once more');
    expect(said(duplicateEvidence, twice(15, 32))).to.equal(null);
    expect(said(duplicateEvidence, twice(16, 31))).to.equal(null);
    const { front, bytes, to } = twice(40, 32);
    expect(said(duplicateEvidence, { front, bytes: put(bytes, 39, Uint8Array.of(1)), to })).to.equal(null);
  });

  it('is looked for in 128 KiB at most', () => {
    const long = (length: number) => {
      const source: ByteSource = new FilledSource(32 + 2 * length, 0x61);
      const range = { from: 32 + length, to: 32 + 2 * length };
      const view = (to: number) =>
        lookAt(source, { ...range, to }, 'OffsetOutOfOrder', { expectedOffset: 1n, claimedEnd: range.to });
      return [duplicateEvidence(view(range.to)), repeatedRecordEvidence(view(range.from))].map((found) => found?.slug);
    };
    expect(long(128 * 1024)).to.deep.equal(['duplicate', 'duplicate']);
    expect(long(128 * 1024 + 1)).to.deep.equal([undefined, undefined]);
  });

  it('is the record in front of it where its end says so', () => {
    const { front, bytes } = twice(40, 32);
    const once = { front, bytes, to: 0 };
    const more = 'duplicate: the record just in front of it once more';
    expect(said(repeatedRecordEvidence, { ...once, claimedEnd: front.length + 40 })).to.equal(more);
    expect(said(repeatedRecordEvidence, { ...once, to: 40 })).to.equal(more);
    expect(said(repeatedRecordEvidence, once)).to.equal(null);
    expect(said(repeatedRecordEvidence, { ...once, claimedEnd: front.length - 40 })).to.equal(null);
  });
});

describe('bytes between two records', () => {
  it('are followed by the record that is due', () => {
    const bytes = concatBytes([NOISE.subarray(0, 7), record()]);
    const between = (to: number, expectedOffset: bigint | null) =>
      said(betweenRecordsEvidence, { bytes, to, expectedOffset });
    expect(between(7, OFFSET)).to.equal(
      'foreign: 7 bytes that belong to no record: the record that is due follows them',
    );
    expect(between(7, OFFSET + 1n)).to.equal(null);
    expect(between(7, null)).to.equal(null);
    expect(between(8, OFFSET)).to.equal(null);
    expect(between(bytes.length, OFFSET)).to.equal(null);
    expect(between(bytes.length - 5, OFFSET)).to.equal(null);
  });
});
