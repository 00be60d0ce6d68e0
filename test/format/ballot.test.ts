import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';
import { BALLOT_LAYOUT, BALLOT_MAGIC, decodeBallot, encodeBallot } from '../../src/format/ballot.js';
import { feedOf } from '../../src/format/bytes.js';
import { describeWithCorpus } from '../builders/trees.js';
import {
  extended,
  hex,
  itKeepsTheRules,
  layoutValues,
  patched,
  refusal,
  strictFeed,
  text,
  u64,
} from './sidecar-rules.js';

const SOUND = hex(`
  464c424c 0001 0009 ffffffffffffffff | FLBL, version, leader_len, generation
  62726f6bc3a9722d31 | leader
  039bb73b | crc
`);
const GIVEN_UP = hex('464c424c 0001 0000 0000000000000007 c65057bd');
const NOT_TEXT = hex('464c424c 0001 0002 0000000000000007 fffe 74f05ba5');
const TOO_LONG = hex(`464c424c 0001 0401 0000000000000007 ${'6e'.repeat(1025)} 15b610f9`);

describe('format/ballot', () => {
  itKeepsTheRules({
    decode: decodeBallot,
    layout: BALLOT_LAYOUT,
    sound: [SOUND, GIVEN_UP],
    fixedPart: 20,
    magic: BALLOT_MAGIC,
  });

  it('is read as the page lays it out', () => {
    const value = { generation: 0xffff_ffff_ffff_ffffn, leader: 'brokér-1' };
    expect(decodeBallot(feedOf(SOUND))).to.deep.equal({ value, claimed: value, damage: [] });
    expect(encodeBallot(value)).to.deep.equal(SOUND);
    expect(layoutValues(BALLOT_LAYOUT, SOUND)).to.include({
      leader_len: 9,
      generation: 0xffff_ffff_ffff_ffffn,
      leader: 'brokér-1',
      crc: '0x039bb73b',
    });
  });

  it('an empty leader is a value: a generation given up', () => {
    expect(decodeBallot(feedOf(GIVEN_UP)).value).to.deep.equal({ generation: 7n, leader: '' });
  });

  it('what is encoded is decoded', () => {
    fc.assert(
      fc.property(u64, text, (generation, leader) => {
        expect(decodeBallot(strictFeed(encodeBallot({ generation, leader }))).value).to.deep.equal({
          generation,
          leader,
        });
      }),
    );
  });

  it('a leader of 1024 bytes is the longest', () => {
    const leader = 'n'.repeat(1024);
    expect(decodeBallot(feedOf(encodeBallot({ generation: 1n, leader }))).damage).to.deep.equal([]);
    expect(() => encodeBallot({ generation: 1n, leader: `${leader}n` })).to.throw('broken assumption');
    expect(refusal(decodeBallot(feedOf(TOO_LONG)))).to.deep.equal([
      { kind: 'SidecarField', position: 6, field: 'leader_len', problem: 'is 1025, and at most 1024' },
    ]);
  });

  it('a rotted length is truncated or trailing bytes, never a long leader', () => {
    const long = decodeBallot(feedOf(patched(SOUND, 6, 0xff, 0xff)));
    expect(refusal(long)).to.deep.equal([{ kind: 'SidecarTruncated', position: 16, needed: 65_539, available: 13 }]);
    expect(long.claimed).to.deep.equal({ generation: 0xffff_ffff_ffff_ffffn });
    const short = decodeBallot(feedOf(patched(SOUND, 7, 8)));
    expect(refusal(short)).to.deep.equal([{ kind: 'SidecarTrailingBytes', position: 28, extra: 1 }]);
    expect(short.claimed).to.deep.equal({ generation: 0xffff_ffff_ffff_ffffn, leader: 'brokér-' });
    expect(refusal(decodeBallot(feedOf(extended(SOUND, 0))))).to.deep.equal([
      { kind: 'SidecarTrailingBytes', position: 29, extra: 1 },
    ]);
  });

  it('a wrong checksum comes before what the fields say', () => {
    expect(refusal(decodeBallot(feedOf(patched(NOT_TEXT, 18, 0x75))))).to.deep.equal([
      { kind: 'SidecarChecksum', position: 18, expected: '0x75f05ba5', found: '0x74f05ba5' },
    ]);
  });

  it('a leader that is not UTF-8 is a damaged field', () => {
    const reading = decodeBallot(feedOf(NOT_TEXT));
    expect(refusal(reading)).to.deep.equal([
      { kind: 'SidecarField', position: 16, field: 'leader', problem: 'is not UTF-8' },
    ]);
    expect(reading.claimed).to.deep.equal({ generation: 7n });
  });

  describeWithCorpus('of the corpus', (corpus) => {
    const decode = (name: string) =>
      decodeBallot(feedOf(readFileSync(`${corpus}/cases/${name}/acme_default_orders_0-0d3aed4b998d2798/ballot`)));

    it('decode as the cases say', () => {
      expect(decode('healthy-v4').value).to.deep.equal({ generation: 5n, leader: 'broker-1' });
      expect(decode('ballot-given-up').value).to.deep.equal({ generation: 7n, leader: '' });
      expect(refusal(decode('ballot-crc')).map(({ kind }) => kind)).to.deep.equal(['SidecarChecksum']);
      expect(refusal(decode('ballot-long-leader'))[0]).to.include({ kind: 'SidecarField', field: 'leader_len' });
      expect(refusal(decode('ballot-not-utf8'))[0]).to.include({ kind: 'SidecarField', field: 'leader' });
    });
  });
});
