import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';
import { feedOf } from '../../src/format/bytes.js';
import { decodeReplica, encodeReplica, REPLICA_LAYOUT, REPLICA_MAGIC } from '../../src/format/replica.js';
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
  u64,
} from './sidecar-rules.js';

const SOUND = hex(`
  464c5253 0001 0000 | FLRS, version, reserved
  0000000000000009 | generation
  ffffffffffffffff | commit
  86dad2ce | crc
`);

describe('format/replica', () => {
  itKeepsTheRules({
    decode: decodeReplica,
    layout: REPLICA_LAYOUT,
    sound: [SOUND],
    fixedPart: 28,
    magic: REPLICA_MAGIC,
  });

  it('is read as the page lays it out, and no u64 is rounded', () => {
    const value = { generation: 9n, commit: 0xffff_ffff_ffff_ffffn };
    expect(decodeReplica(feedOf(SOUND))).to.deep.equal({ value, claimed: value, damage: [] });
    expect(encodeReplica(value)).to.deep.equal(SOUND);
    expect(layoutValues(REPLICA_LAYOUT, SOUND)).to.deep.equal({
      magic: '0x464c5253',
      version: 1,
      reserved: 0,
      generation: 9n,
      commit: 0xffff_ffff_ffff_ffffn,
      crc: '0x86dad2ce',
    });
  });

  it('what is encoded is decoded, the reserved word included', () => {
    fc.assert(
      fc.property(u64, u64, u16, (generation, commit, word) => {
        const replica = { generation, commit, ...(word === 0 ? {} : { reserved: word }) };
        expect(decodeReplica(strictFeed(encodeReplica(replica))).value).to.deep.equal(replica);
      }),
    );
  });

  it('one byte too many is refused before the checksum is looked at', () => {
    const reading = decodeReplica(feedOf(extended(patched(SOUND, 8, 1), 0)));
    expect(refusal(reading)).to.deep.equal([{ kind: 'SidecarTrailingBytes', position: 28, extra: 1 }]);
    expect(reading.claimed).to.include({ commit: 0xffff_ffff_ffff_ffffn });
  });

  it('every flipped bit after the version is met by the checksum, at its position', () => {
    for (let bit = 6 * 8; bit < SOUND.length * 8; bit++) {
      const at = bit >> 3;
      const [damage] = refusal(decodeReplica(feedOf(patched(SOUND, at, SOUND[at]! ^ (1 << (bit & 7))))));
      expect(damage).to.include({ kind: 'SidecarChecksum', position: 24 });
    }
  });

  describeWithCorpus('of the corpus', (corpus) => {
    const decode = (name: string) =>
      decodeReplica(feedOf(readFileSync(`${corpus}/cases/${name}/acme_default_orders_0-0d3aed4b998d2798/replica`)));

    it('decode as the cases say', () => {
      expect(decode('healthy-v4').value).to.deep.equal({ generation: 5n, commit: 12n });
      expect(refusal(decode('replica-crc')).map(({ kind }) => kind)).to.deep.equal(['SidecarChecksum']);
      expect(refusal(decode('replica-short'))).to.deep.equal([
        { kind: 'SidecarTruncated', position: 0, needed: 28, available: 12 },
      ]);
      expect(refusal(decode('replica-version'))).to.deep.equal([
        { kind: 'SidecarVersion', position: 4, known: 1, found: 3 },
      ]);
    });
  });
});
