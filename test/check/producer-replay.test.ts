import { expect } from 'chai';
import { ProducerReplay } from '../../src/check/producer-replay.js';

const tag = (producerId: bigint, sequence: bigint, len = 1) => ({ producerId, sequence, len });

describe('ProducerReplay', () => {
  it('keeps the last 64 batches of a producer', () => {
    const replay = new ProducerReplay();
    for (let i = 0n; i < 65n; i++) replay.opens(tag(7n, i), i);
    const window = replay.producers.get(7n);
    expect(window?.batches).to.have.lengthOf(64);
    expect(window?.batches[0]).to.deep.equal({ first: 1n, len: 1 });
    expect(window?.lastSequence).to.equal(64n);
  });

  it('a sequence that is not the next one empties the window first', () => {
    for (const jump of [1n, 3n, 0n]) {
      const replay = new ProducerReplay();
      replay.opens(tag(7n, 1n), 0n);
      replay.opens(tag(7n, jump), 1n);
      expect(replay.producers.get(7n)).to.deep.equal({
        lastSequence: jump,
        batches: [{ first: 1n, len: 1 }],
        emptied: true,
      });
    }
  });

  it('past 4096 producers the one whose newest batch is oldest is forgotten', () => {
    const replay = new ProducerReplay();
    for (let id = 0n; id < 4096n; id++) replay.opens(tag(id, 0n), id);
    replay.opens(tag(0n, 1n), 4096n);
    replay.opens(tag(5000n, 0n), 4097n);
    expect(replay.producers.size).to.equal(4096);
    expect(replay.producers.has(0n)).to.equal(true);
    expect(replay.producers.has(1n)).to.equal(false);
    replay.opens(tag(1n, 1n), 4098n);
    expect(replay.producers.get(1n)?.batches).to.deep.equal([{ first: 4098n, len: 1 }]);
    expect(replay.producers.has(2n)).to.equal(false);
  });

  it('an open batch waits, completes with its last record, and is abandoned by any other', () => {
    const replay = new ProducerReplay();
    replay.opens(tag(7n, 0n, 3), 0n);
    replay.continues();
    expect(replay.open).to.deep.equal({ producerId: 7n, sequence: 0n, len: 3, first: 0n, held: 2 });
    replay.continues();
    expect(replay.open).to.equal(null);
    expect(replay.producers.get(7n)?.batches).to.deep.equal([{ first: 0n, len: 3 }]);
    replay.continues();
    replay.opens(tag(7n, 1n, 2), 4n);
    replay.other();
    replay.continues();
    expect(replay.producers.get(7n)?.lastSequence).to.equal(0n);
  });

  it('counts what continues something in front of the first record', () => {
    const replay = new ProducerReplay();
    replay.continues();
    replay.continues();
    expect(replay.onlyLeading).to.equal(true);
    replay.other();
    replay.continues();
    expect(replay.onlyLeading).to.equal(false);
    expect(replay.leading).to.equal(2);
  });
});
