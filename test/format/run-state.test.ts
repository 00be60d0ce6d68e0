import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';
import { feedOf } from '../../src/format/bytes.js';
import { walkLayout } from '../../src/format/layout.js';
import { decodeRunState, encodeRunState, RUN_STATE_LAYOUT, RUN_STATE_MAGIC } from '../../src/format/run-state.js';
import { describeWithCorpus } from '../builders/trees.js';
import { extended, hex, itKeepsTheRules, patched, refusal, strictFeed } from './sidecar-rules.js';

const ID = '000102030405060708090a0b0c0d0e0f';
const runState = (state: string, flags: string, crc: string) => hex(`464c524e 0001 ${state} ${flags} ${ID} ${crc}`);
const RUNNING = runState('01', '01', 'c7ab2c20');
const STOPPED = runState('02', '00', 'aa8b3a01');

describe('format/run-state', () => {
  itKeepsTheRules({
    decode: decodeRunState,
    layout: RUN_STATE_LAYOUT,
    sound: [RUNNING, STOPPED],
    fixedPart: 28,
    magic: RUN_STATE_MAGIC,
  });

  it('is read as the page lays it out', () => {
    const running = { state: 'running', acknowledgesBeforeSync: true, id: ID } as const;
    const stopped = { state: 'stopped', acknowledgesBeforeSync: false, id: ID } as const;
    expect(decodeRunState(feedOf(RUNNING))).to.deep.equal({ value: running, claimed: running, damage: [] });
    expect(decodeRunState(feedOf(STOPPED)).value).to.deep.equal(stopped);
    expect(encodeRunState(running)).to.deep.equal(RUNNING);
    expect(encodeRunState(stopped)).to.deep.equal(STOPPED);
  });

  it('the table gives the same values', () => {
    const spans = walkLayout(RUN_STATE_LAYOUT, RUNNING);
    expect(spans.map(({ value }) => value)).to.deep.equal(['0x464c524e', 1, 1, 1, ID, '0xc7ab2c20']);
    expect(spans[3]?.bits?.map(({ name, value }) => [name, value])).to.deep.equal([['acknowledges_before_sync', 1]]);
  });

  it('what is encoded is decoded', () => {
    const id = fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => Buffer.from(bytes).toString('hex'));
    const state = fc.constantFrom('running' as const, 'stopped' as const);
    fc.assert(
      fc.property(fc.record({ state, acknowledgesBeforeSync: fc.boolean(), id }), (value) => {
        expect(decodeRunState(strictFeed(encodeRunState(value))).value).to.deep.equal(value);
      }),
    );
  });

  it('a state that is neither running nor stopped is a damaged field', () => {
    for (const [state, crc] of [
      ['03', '45d98ce0'],
      ['00', 'af5f5182'],
    ] as const) {
      const reading = decodeRunState(feedOf(runState(state, '00', crc)));
      expect(refusal(reading)[0]).to.include({ kind: 'SidecarField', position: 6, field: 'state' });
      expect(reading.claimed).to.deep.equal({ acknowledgesBeforeSync: false, id: ID });
    }
  });

  it('a flag bit that is not known is a damaged field', () => {
    expect(refusal(decodeRunState(feedOf(runState('02', '02', '7eb7aac6'))))).to.deep.equal([
      { kind: 'SidecarField', position: 7, field: 'flags', problem: 'has bits that are not known: 0x02' },
    ]);
  });

  it('one byte too many is refused, and a wrong checksum comes before the fields', () => {
    expect(refusal(decodeRunState(feedOf(extended(RUNNING, 0))))).to.deep.equal([
      { kind: 'SidecarTrailingBytes', position: 28, extra: 1 },
    ]);
    expect(refusal(decodeRunState(feedOf(patched(RUNNING, 6, 9))))[0]).to.include({
      kind: 'SidecarChecksum',
      position: 24,
      expected: '0xc7ab2c20',
    });
  });

  it('what a file with a wrong checksum says is claimed, a state that is none left out', () => {
    const claim = { acknowledgesBeforeSync: true, id: ID };
    for (const [state, claimed] of [
      [1, { state: 'running', ...claim }],
      [2, { state: 'stopped', ...claim }],
      [9, claim],
    ] as const) {
      const reading = decodeRunState(feedOf(patched(patched(RUNNING, 6, state), 24, 0)));
      expect(refusal(reading)).to.have.lengthOf(1);
      expect(reading.claimed).to.deep.equal(claimed);
    }
  });

  it('an id of other than 16 bytes is not written', () => {
    for (const id of [ID.slice(2), `${ID}10`]) {
      expect(() => encodeRunState({ state: 'running', acknowledgesBeforeSync: true, id })).to.throw(
        'broken assumption',
      );
    }
  });

  describeWithCorpus('of the corpus', (corpus) => {
    const decode = (name: string) => decodeRunState(feedOf(readFileSync(`${corpus}/cases/${name}/run-state`))).value;

    it('decode as the cases say', () => {
      expect(decode('root-clean')).to.include({ state: 'stopped', acknowledgesBeforeSync: false, id: ID });
      expect(decode('root-running')).to.include({ state: 'running', acknowledgesBeforeSync: true });
      expect(decode('root-running-synced')).to.include({ state: 'running', acknowledgesBeforeSync: false });
    });
  });
});
