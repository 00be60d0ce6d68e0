import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';
import { feedOf } from '../../src/format/bytes.js';
import {
  decodeRegistration,
  encodeRegistration,
  REGISTRATION_MAGIC,
  REGISTRATION_PACKED_LAYOUT,
  REGISTRATION_PADDED_LAYOUT,
} from '../../src/format/registration.js';
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

const PADDED = hex('464c5247 0001 0000 0006411a0ccf2e40 f9350478');
const PACKED = hex('464c5247 0001 0006411a0ccf2e40 57c574c5');
const INCARNATION = 0x6411a0ccf2e40n;

describe('format/registration', () => {
  for (const [name, bytes, layout] of [
    ['with reserved bytes', PADDED, REGISTRATION_PADDED_LAYOUT],
    ['without reserved bytes', PACKED, REGISTRATION_PACKED_LAYOUT],
  ] as const) {
    describe(name, () => {
      itKeepsTheRules({ decode: decodeRegistration, layout, sound: [bytes], fixedPart: 18, magic: REGISTRATION_MAGIC });

      it('the table gives the incarnation', () => {
        expect(layoutValues(layout, bytes)).to.include({ version: 1, incarnation: INCARNATION });
      });
    });
  }

  it('both layouts are read, and the value says which one it was', () => {
    expect(decodeRegistration(feedOf(PADDED)).value).to.deep.equal({ incarnation: INCARNATION, layout: 'padded' });
    expect(decodeRegistration(feedOf(PACKED)).value).to.deep.equal({ incarnation: INCARNATION, layout: 'packed' });
    expect(encodeRegistration({ incarnation: INCARNATION, layout: 'padded' })).to.deep.equal(PADDED);
    expect(encodeRegistration({ incarnation: INCARNATION, layout: 'packed' })).to.deep.equal(PACKED);
  });

  it('what is encoded is decoded, the reserved word included', () => {
    fc.assert(
      fc.property(u64, fc.constantFrom('padded' as const, 'packed' as const), u16, (incarnation, layout, word) => {
        const reserved = layout === 'padded' && word !== 0 ? { reserved: word } : {};
        const value = { incarnation, layout, ...reserved };
        expect(decodeRegistration(strictFeed(encodeRegistration(value))).value).to.deep.equal(value);
      }),
    );
  });

  it('trailing bytes and a wrong checksum have the position of the layout', () => {
    expect(refusal(decodeRegistration(feedOf(extended(PADDED, 0, 0))))).to.deep.equal([
      { kind: 'SidecarTrailingBytes', position: 20, extra: 2 },
    ]);
    expect(refusal(decodeRegistration(feedOf(extended(PACKED, 0, 0))))).to.deep.equal([
      { kind: 'SidecarTrailingBytes', position: 18, extra: 2 },
    ]);
    expect(refusal(decodeRegistration(feedOf(patched(PADDED, 19, 0x79))))).to.deep.equal([
      { kind: 'SidecarChecksum', position: 16, expected: '0xf9350479', found: '0xf9350478' },
    ]);
  });

  describeWithCorpus('of the corpus', (corpus) => {
    const decode = (name: string) => decodeRegistration(feedOf(readFileSync(`${corpus}/cases/${name}/registration`)));

    it('decode as the cases say', () => {
      expect(decode('root-clean')).to.deep.include({ value: { incarnation: 77n, layout: 'padded' }, damage: [] });
      expect(decode('root-packed-layouts')).to.deep.include({
        value: { incarnation: 77n, layout: 'packed' },
        damage: [],
      });
    });
  });
});
