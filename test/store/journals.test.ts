/** Journals beside a shard are recognised by their name, and an unfinished one is never taken for a finished one. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { journalName, shardOfJournal } from '../../src/store/journal-names.js';
import { isUnfinished, JournalsSeen, journalsBeside } from '../../src/store/journals.js';
import { discover } from '../../src/store/walk.js';
import { withMemoryDir } from '../builders/repairs.js';
import { SHARD_DIR_NAME, threeSegments, writeShardBelow } from '../builders/shards.js';

const AT = new Date('2026-11-03T10:15:30.999Z');

describe('the name of a journal', () => {
  it('is dotted, and tells the shard and the time', () => {
    expect(journalName('shard-a', AT)).to.equal('.shard-a.felix-fsck-20261103T101530Z');
    expect(journalName('shard-a', AT, 2)).to.equal('.shard-a.felix-fsck-20261103T101530Z-2');
  });

  it('gives the shard back, and no other name does', () => {
    for (const attempt of [1, 2, 77]) expect(shardOfJournal(journalName('a.b-c', AT, attempt))).to.equal('a.b-c');
    for (const name of [
      'shard.felix-fsck-20261103T101530Z',
      '.shard.felix-fsck-now',
      '.felix-fsck-20261103T101530Z',
      '.x',
    ]) {
      expect(shardOfJournal(name), name).to.equal(null);
    }
  });
});

describe('journals beside a shard', () => {
  function beside(dir: string, record: string | null, shard = SHARD_DIR_NAME): string {
    const journal = path.join(dir, journalName(shard, AT));
    mkdirSync(journal);
    if (record !== null) writeFileSync(path.join(journal, 'journal.json'), record);
    return journal;
  }

  for (const [record, state, unfinished] of [
    [null, 'preparing', false],
    ['{"state":"preparing"}', 'preparing', false],
    ['{"state":"applying"}', 'applying', true],
    ['{"state":"applied"}', 'applied', false],
    ['{"state":"undoing"}', 'undoing', true],
    ['{"state":"undone"}', 'undone', false],
    ['{"state":"finished"}', 'unknown', true],
    ['{"state":"app', 'unknown', true],
    ['[]', 'unknown', true],
  ] as const) {
    it(`with the record ${record}: ${state}, ${unfinished ? 'unfinished' : 'nothing left to do'}`, () =>
      withMemoryDir((dir) => {
        const shard = writeShardBelow(threeSegments().image, dir);
        beside(dir, record);
        const [sighting, ...more] = journalsBeside(shard);
        expect([sighting!.state, isUnfinished(sighting!), more]).to.deep.equal([state, unfinished, []]);
      }));
  }

  it('of another shard do not count, and a link that leads nowhere does', () =>
    withMemoryDir((dir) => {
      const shard = writeShardBelow(threeSegments().image, dir);
      beside(dir, '{"state":"applying"}', 'another');
      expect(journalsBeside(shard)).to.deep.equal([]);
      symlinkSync('/nowhere/at/all', path.join(dir, journalName(SHARD_DIR_NAME, AT)));
      expect(journalsBeside(shard).map(({ state }) => state)).to.deep.equal(['unknown']);
    }));

  it('are no shards, and no strangers, to a walk', () =>
    withMemoryDir((dir) => {
      writeShardBelow(threeSegments().image, dir);
      writeShardBelow(threeSegments().image, path.join(beside(dir, null), 'old'));
      symlinkSync('/nowhere', path.join(dir, journalName('another', AT)));
      const found = [...discover(dir, { includeDeleted: true })];
      expect(found.map(({ what }) => what)).to.deep.equal(['shard']);
    }));

  it('are listed once for many shards of a directory', () =>
    withMemoryDir((dir) => {
      const shard = writeShardBelow(threeSegments().image, dir);
      const seen = new JournalsSeen();
      expect(seen.beside(shard)).to.deep.equal([]);
      beside(dir, null);
      expect(seen.beside(shard)).to.deep.equal([]);
      expect(journalsBeside(shard)).to.have.length(1);
    }));
});
