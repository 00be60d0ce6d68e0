import { expect } from 'chai';
import { sortShardFiles } from '../../src/check/shard-files.js';
import type { Entry, EntryType } from '../../src/store/walk.js';
import { indexName, logName } from '../builders/shards.js';

function entry(name: string, type: EntryType = 'file'): Entry {
  return { name, path: `/s/${name}`, type, size: 1, inode: 1n, device: 1n, mtimeNs: 0n };
}

const names = (entries: readonly Entry[]) => entries.map(({ name }) => name);

describe('the entries of a shard', () => {
  it('are segments by number, each with the index beside it', () => {
    const MAX = (2n ** 64n - 1n).toString();
    const files = sortShardFiles([logName(10), logName(2), indexName(2), `${MAX}.log`].map((name) => entry(name)));
    expect(files.segments.map(({ id, index }) => [id, index?.name ?? null])).to.deep.equal([
      [2n, indexName(2)],
      [10n, null],
      [2n ** 64n - 1n, null],
    ]);
    expect(files.strays).to.deep.equal([]);
  });

  it('are names that a broker takes for an id and cannot open, of whatever type', () => {
    const files = sortShardFiles([
      entry('7.log'),
      entry('+7.log'),
      entry('0000.log', 'directory'),
      entry(`0${logName(3)}`),
    ]);
    expect(files.unopenable.map(({ id, entry: { name } }) => [id, name])).to.deep.equal([
      [7n, '7.log'],
      [7n, '+7.log'],
      [0n, '0000.log'],
      [3n, `0${logName(3)}`],
    ]);
    expect(files.segments).to.deep.equal([]);
  });

  it('are strays when a number is beyond a u64, or is none', () => {
    const strange = ['18446744073709551616.log', '-1.log', 'a.log', '.log', '7.index', '1 .log', '1.LOG', 'epochs.tmp'];
    expect(names(sortShardFiles(strange.map((name) => entry(name))).strays)).to.deep.equal(strange);
  });

  it('are the small files by name', () => {
    const small = ['epochs', 'replica', 'ballot', 'producers', 'offload.manifest', 'keys.idx'];
    const files = sortShardFiles([...small, 'storage-id'].map((name) => entry(name)));
    expect([...files.sidecars.keys()]).to.deep.equal(small);
    expect(names(files.strays)).to.deep.equal(['storage-id']);
  });

  it('are no files under a name of the format when they are links and the like', () => {
    const files = sortShardFiles([
      entry(logName(0), 'link'),
      entry(logName(1)),
      entry(indexName(1), 'directory'),
      entry('replica', 'fifo'),
    ]);
    expect(names(files.notFiles)).to.deep.equal([logName(0), indexName(1), 'replica']);
    expect(files.segments.map(({ id, index }) => [id, index])).to.deep.equal([[1n, null]]);
    expect(files.sidecars.size).to.equal(0);
  });

  it('are indexes of no segment among the strays', () => {
    expect(names(sortShardFiles([entry(indexName(4)), entry(logName(5))]).strays)).to.deep.equal([indexName(4)]);
  });
});

describe('a file that is named by itself', () => {
  it('is a segment whatever its name', () => {
    const sole = { name: '7.log', segment: { id: 7n, sealed: false } };
    const files = sortShardFiles([entry('7.log')], sole);
    expect(files.segments.map(({ id, entry: { name } }) => [id, name])).to.deep.equal([[7n, '7.log']]);
    expect(files.unopenable).to.deep.equal([]);
  });
});
