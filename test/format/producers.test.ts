import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';
import { concatBytes, feedOf, writeU16, writeU32 } from '../../src/format/bytes.js';
import { crc32 } from '../../src/format/checksum.js';
import {
  decodeProducers,
  encodeProducers,
  MAX_BATCHES,
  MAX_PRODUCERS,
  PRODUCERS_LAYOUT,
  PRODUCERS_MAGIC,
  type Producers,
} from '../../src/format/producers.js';
import { describeWithCorpus } from '../builders/trees.js';
import {
  extended,
  hex,
  itKeepsTheRules,
  layoutValues,
  patched,
  refusal,
  strictFeed,
  u16,
  u32,
  u64,
} from './sidecar-rules.js';

const U64_MAX = 0xffff_ffff_ffff_ffffn;
const SOUND = hex(`
  464c5053 0001 0000 0000000000000066 00000002 be07996a | FLPS, version, reserved, as_of, producers, body_crc
  01 0000000000000007 0000000000000003 00000004 0000000000000064 00000002 | open: id, sequence, len, first, held
  0000000000000007 0000000000000002 0002 | id, last_sequence, batches
  000000000000005a 00000003 | first, len
  000000000000005f 00000001
  ffffffffffffffff ffffffffffffffff 0000
`);
const NONE = hex('464c5053 0001 0000 0000000000000000 00000000 d202ef8d 00');
const OPEN_TWO = hex('464c5053 0001 0000 0000000000000000 00000000 3c0c8ea1 02');
const VALUE: Producers = {
  asOf: 102n,
  open: { producerId: 7n, sequence: 3n, len: 4, first: 100n, held: 2 },
  producers: [
    {
      id: 7n,
      lastSequence: 2n,
      batches: [
        { first: 90n, len: 3 },
        { first: 95n, len: 1 },
      ],
    },
    { id: U64_MAX, lastSequence: U64_MAX, batches: [] },
  ],
};

/** A snapshot with a right checksum over any body. */
function snapshot(count: number, body: Uint8Array): Uint8Array {
  const header = NONE.slice(0, 24);
  writeU32(header, 16, count);
  writeU32(header, 20, crc32(body));
  return concatBytes([header, body]);
}

function producer(batches: number): Uint8Array {
  const bytes = new Uint8Array(18 + batches * 12);
  writeU16(bytes, 16, batches);
  return bytes;
}

describe('format/producers', () => {
  itKeepsTheRules({
    decode: decodeProducers,
    layout: PRODUCERS_LAYOUT,
    sound: [SOUND, NONE],
    fixedPart: 25,
    magic: PRODUCERS_MAGIC,
  });

  it('is read as the page lays it out, and no u64 is rounded', () => {
    expect(decodeProducers(feedOf(SOUND))).to.deep.equal({ value: VALUE, claimed: VALUE, damage: [] });
    expect(decodeProducers(feedOf(NONE)).value).to.deep.equal({ asOf: 0n, open: null, producers: [] });
    expect(encodeProducers(VALUE)).to.deep.equal(SOUND);
    expect(encodeProducers({ asOf: 0n, open: null, producers: [] })).to.deep.equal(NONE);
  });

  it('the table gives the same values', () => {
    expect(layoutValues(PRODUCERS_LAYOUT, SOUND)).to.include({
      as_of: 102n,
      'open.producer_id': 7n,
      'open.first': 100n,
      'open.held': 2,
      'producers[0].batches': 2,
      'producers[0].batches[1].first': 95n,
      'producers[0].batches[1].len': 1,
      'producers[1].id': U64_MAX,
    });
    expect(layoutValues(PRODUCERS_LAYOUT, NONE)).to.not.have.property('open.len');
  });

  it('what is encoded is decoded, the reserved word included', () => {
    const batch = fc.record({ first: u64, len: u32 });
    const open = fc.option(fc.record({ producerId: u64, sequence: u64, len: u32, first: u64, held: u32 }));
    const state = fc.record({ id: u64, lastSequence: u64, batches: fc.array(batch, { maxLength: 64 }) });
    const value = fc.record({ asOf: u64, open, producers: fc.array(state, { maxLength: 5 }) });
    fc.assert(
      fc.property(value, u16, (snapshotValue, word) => {
        const whole = { ...snapshotValue, ...(word === 0 ? {} : { reserved: word }) };
        expect(decodeProducers(strictFeed(encodeProducers(whole))).value).to.deep.equal(whole);
      }),
    );
  });

  it('a count of four billion is truncated at once', () => {
    const reading = decodeProducers(feedOf(patched(SOUND, 16, 0xff, 0xff, 0xff, 0xff)));
    expect(refusal(reading)).to.deep.equal([
      { kind: 'SidecarTruncated', position: 25, needed: 32 + 0xffffffff * 18, available: SOUND.length - 25 },
    ]);
    expect(reading.claimed).to.deep.equal({ asOf: 102n });
  });

  it('a count of batches that leaves the file is truncated at its producer', () => {
    const reading = decodeProducers(feedOf(patched(SOUND, SOUND.length - 2, 0xff, 0xff)));
    expect(refusal(reading)).to.deep.equal([
      { kind: 'SidecarTruncated', position: 99, needed: 18 + 65_535 * 12, available: 18 },
    ]);
    expect(reading.claimed.producers).to.deep.equal([VALUE.producers[0]]);
  });

  it('a producer without room for its id, sequence and count is truncated, and the ones before it are claimed', () => {
    for (const cut of [1, 17]) {
      const reading = decodeProducers(feedOf(patched(SOUND, SOUND.length - 2, 0xff, 0xff).subarray(0, -cut)));
      expect(refusal(reading)).to.deep.equal([
        { kind: 'SidecarTruncated', position: 99, needed: 18, available: 18 - cut },
      ]);
      expect(reading.claimed).to.deep.equal({ ...VALUE, producers: [VALUE.producers[0]] });
    }
  });

  it('an open byte without its batch is truncated', () => {
    expect(refusal(decodeProducers(feedOf(patched(NONE, 24, 1))))).to.deep.equal([
      { kind: 'SidecarTruncated', position: 25, needed: 32, available: 0 },
    ]);
  });

  it('an open byte of neither 0 nor 1 is a damaged field only under a right checksum', () => {
    expect(refusal(decodeProducers(feedOf(OPEN_TWO)))).to.deep.equal([
      { kind: 'SidecarField', position: 24, field: 'open', problem: 'is 2, neither 0 nor 1' },
    ]);
    expect(refusal(decodeProducers(feedOf(patched(SOUND, 24, 0xff))))[0]).to.include({
      kind: 'SidecarChecksum',
      position: 20,
      expected: '0xbe07996a',
    });
  });

  it('one byte too many is refused', () => {
    expect(refusal(decodeProducers(feedOf(extended(SOUND, 0))))).to.deep.equal([
      { kind: 'SidecarTrailingBytes', position: SOUND.length, extra: 1 },
    ]);
  });

  it('a wrong checksum is reported where it stands', () => {
    expect(refusal(decodeProducers(feedOf(patched(SOUND, 20, 0xbf))))).to.deep.equal([
      { kind: 'SidecarChecksum', position: 20, expected: '0xbf07996a', found: '0xbe07996a' },
    ]);
  });

  it('every flipped bit of the body leaves no value', () => {
    for (let bit = 24 * 8; bit < SOUND.length * 8; bit++) {
      const at = bit >> 3;
      expect(refusal(decodeProducers(feedOf(patched(SOUND, at, SOUND[at]! ^ (1 << (bit & 7))))))).to.have.lengthOf(1);
    }
  });

  it('the most that the page allows is kept', () => {
    const batches = Array.from({ length: MAX_BATCHES }, (_, index) => ({ first: BigInt(index), len: 1 }));
    const producers = Array.from({ length: MAX_PRODUCERS }, (_, index) => ({
      id: BigInt(index),
      lastSequence: 63n,
      batches,
    }));
    const { value, damage } = decodeProducers(strictFeed(encodeProducers({ asOf: 64n, open: null, producers })));
    expect(damage).to.deep.equal([]);
    expect(value?.producers).to.have.lengthOf(MAX_PRODUCERS);
    expect(value?.producers.at(-1)?.batches).to.have.lengthOf(MAX_BATCHES);
    const past = { ...producers[0]!, batches: [...batches, batches[0]!] };
    for (const refused of [[...producers, producers[0]!], [past]]) {
      expect(() => encodeProducers({ asOf: 64n, open: null, producers: refused })).to.throw('broken assumption');
    }
  }).timeout(60_000);

  it('more producers than that are walked to the end, refused, and not kept', () => {
    const count = MAX_PRODUCERS + 1;
    const reading = decodeProducers(strictFeed(snapshot(count, new Uint8Array(1 + 18 * count))));
    expect(refusal(reading)).to.deep.equal([
      { kind: 'SidecarField', position: 16, field: 'producers', problem: 'is 4097, and at most 4096' },
    ]);
    expect(reading.claimed.producers).to.have.lengthOf(MAX_PRODUCERS);
  });

  it('more batches than that are walked to the end, refused, and not kept', () => {
    const body = concatBytes([Uint8Array.of(0), producer(64), producer(65), producer(65_535)]);
    const reading = decodeProducers(strictFeed(snapshot(3, body)));
    expect(refusal(reading)).to.deep.equal([
      { kind: 'SidecarField', position: 25 + 18 + 64 * 12 + 16, field: 'batches', problem: 'is 65, and at most 64' },
    ]);
    expect(reading.claimed.producers?.map(({ batches }) => batches.length)).to.deep.equal([64, 64, 64]);
  });

  describeWithCorpus('of the corpus', (corpus) => {
    const decode = (name: string) =>
      decodeProducers(feedOf(readFileSync(`${corpus}/cases/${name}/acme_default_orders_0-0d3aed4b998d2798/producers`)));

    it('decode as the cases say', () => {
      expect(decode('healthy-producers').value).to.deep.equal({
        asOf: 7n,
        open: null,
        producers: [
          {
            id: 7n,
            lastSequence: 2n,
            batches: [
              { first: 1n, len: 2 },
              { first: 4n, len: 3 },
            ],
          },
          { id: 8n, lastSequence: 5n, batches: [{ first: 3n, len: 1 }] },
        ],
      });
      expect(decode('healthy-producers-open').value?.open).to.deep.equal({
        producerId: 8n,
        sequence: 6n,
        len: 3,
        first: 7n,
        held: 1,
      });
      expect(refusal(decode('producers-crc')).map(({ kind }) => kind)).to.deep.equal(['SidecarChecksum']);
      expect(decode('producers-past-tail').damage).to.deep.equal([]);
      expect(decode('producers-mismatch').damage).to.deep.equal([]);
    });
  });
});
