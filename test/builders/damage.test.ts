/** Each damage does what its name says, to a copy. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { bytesOfHex, hexOf } from '../../src/format/bytes.js';
import {
  append,
  applyOps,
  copyFile,
  createFile,
  type Damage,
  damaged,
  deleteFile,
  flipBit,
  insert,
  remove,
  renameFile,
  truncate,
  write,
  zero,
} from './damage.js';
import { readShard, type ShardImage } from './shards.js';
import { describeWithCorpus } from './trees.js';

const IMAGE: ShardImage = new Map([['a', bytesOfHex('00112233')]]);

function files(image: ShardImage): Record<string, string> {
  return Object.fromEntries([...image].map(([name, bytes]) => [name, hexOf(bytes)]));
}

describe('damage', () => {
  const done: readonly (readonly [string, Damage, Record<string, string>])[] = [
    ['flips a bit, the least significant one first', flipBit('a', 1, 0), { a: '00102233' }],
    ['zeroes bytes in place', zero('a', 1, 2), { a: '00000033' }],
    ['cuts a file', truncate('a', 1), { a: '00' }],
    ['appends', append('a', bytesOfHex('44')), { a: '0011223344' }],
    ['writes over bytes', write('a', 1, bytesOfHex('ff')), { a: '00ff2233' }],
    ['writes past the end', write('a', 3, bytesOfHex('ffee')), { a: '001122ffee' }],
    ['takes bytes out', remove('a', 1, 2), { a: '0033' }],
    ['puts bytes in', insert('a', 1, bytesOfHex('ff')), { a: '00ff112233' }],
    ['deletes', deleteFile('a'), {}],
    ['copies', copyFile('a', 'b'), { a: '00112233', b: '00112233' }],
    ['creates', createFile('b', bytesOfHex('01')), { a: '00112233', b: '01' }],
    ['renames', renameFile('a', 'b'), { b: '00112233' }],
  ];
  for (const [title, damage, expected] of done) {
    it(`${title}, and leaves the image as it was`, () => {
      expect(files(damaged(IMAGE, damage))).to.deep.equal(expected);
      expect(files(IMAGE)).to.deep.equal({ a: '00112233' });
    });
  }

  it('is done in order', () => {
    expect(files(damaged(IMAGE, truncate('a', 2), append('a', bytesOfHex('ff')), flipBit('a', 2, 7)))).to.deep.equal({
      a: '00117f',
    });
  });

  it('is a mistake when there is nothing to damage', () => {
    for (const damage of [
      flipBit('a', 4, 0),
      zero('a', 3, 2),
      truncate('a', 5),
      write('a', 5, bytesOfHex('00')),
      remove('a', 0, 5),
      insert('a', 5, bytesOfHex('00')),
    ]) {
      expect(() => damaged(IMAGE, damage)).to.throw('are not in a file of 4');
    }
    for (const damage of [flipBit('b', 0, 0), deleteFile('b'), copyFile('b', 'c')]) {
      expect(() => damaged(IMAGE, damage)).to.throw('there is no b to damage');
    }
  });

  it('may be spelled as recorded cases spell it', () => {
    const ops = [
      { op: 'flip', file: 'a', at: 0, bit: 7 },
      { op: 'write', file: 'a', at: 1, hex: 'aabb' },
      { op: 'copy', file: 'a', to: 'b' },
      { op: 'truncate', file: 'a', size: 2 },
      { op: 'zero', file: 'b', at: 1, len: 1 },
      { op: 'remove', file: 'b', at: 3, len: 1 },
      { op: 'append', file: 'b', hex: 'cc' },
      { op: 'create', file: 'c', hex: '' },
      { op: 'delete', file: 'a' },
    ];
    expect(files(applyOps(IMAGE, ops))).to.deep.equal({ b: '8000bbcc', c: '' });
    expect(() => applyOps(IMAGE, [{ op: 'shred', file: 'a' }])).to.throw();
  });

  describeWithCorpus('as recorded', (corpus) => {
    it('applies to the shards it was recorded on', () => {
      const lines = readFileSync(path.join(corpus, 'observed-recovery/cases.ndjson'), 'utf8').trim().split('\n');
      for (const line of lines) {
        const { id, base, ops } = JSON.parse(line) as { id: string; base: string; ops: unknown };
        const image = readShard(path.join(corpus, 'observed-recovery/base', base));
        expect(files(applyOps(image, ops)), id).to.not.deep.equal(files(image));
      }
      expect(lines).to.have.length.greaterThan(200);
    });
  });
});
