/** Every kind has its words: one sentence, a command that helps and never harms, and texts that agree with the format page. */
import { expect } from 'chai';
import fc from 'fast-check';
import { CATALOGUE } from '../../src/domain/catalogue.js';
import type { CatalogueRow, FindingContext } from '../../src/domain/catalogue-row.js';
import { type FindingDetails, type FindingKind, SEVERITIES } from '../../src/domain/finding.js';
import { contextOf, contexts, DETAILS } from './finding-details.js';

/** As the contract lists them, with the severities that each may have, worst first. */
const KINDS: Readonly<Record<string, string>> = {
  SegmentMagic: 'fatal',
  SegmentVersion: 'fatal',
  SegmentFlags: 'fatal',
  SegmentHeaderChecksum: 'fatal',
  IndexMagic: 'warning',
  IndexVersion: 'warning',
  Truncated: 'fatal error warning',
  RecordHeaderChecksum: 'fatal error warning',
  RecordChecksum: 'fatal error',
  RecordFlags: 'fatal error',
  RecordTooLarge: 'fatal error',
  OffsetOutOfOrder: 'fatal error',
  SidecarMagic: 'fatal error warning',
  SidecarVersion: 'fatal error warning',
  SidecarTruncated: 'fatal error warning',
  SidecarTrailingBytes: 'fatal error warning',
  SidecarChecksum: 'fatal error warning',
  SidecarField: 'fatal error warning',
  RecordKindForVersion: 'error',
  GenerationStartPayload: 'error',
  GenerationStartOrder: 'error',
  BatchAbandoned: 'info',
  BatchIncomplete: 'info',
  BatchOrphan: 'info',
  ReservedNotZero: 'warning',
  IndexFlags: 'warning',
  AbandonedSegment: 'warning',
  BlankFirstSegment: 'warning',
  NoSegments: 'error',
  SegmentFileName: 'fatal',
  StrayFile: 'warning info',
  IndexMissing: 'warning',
  IndexBaseOffset: 'warning',
  IndexEntry: 'fatal error warning',
  IndexTornEntry: 'info',
  EpochOrder: 'error',
  EpochBeyondTail: 'error',
  EpochCount: 'warning',
  EpochGenerationStart: 'error',
  CommitBeyondTail: 'error',
  ReplicaBehindEpochs: 'error',
  BallotBehind: 'info',
  BallotAhead: 'info',
  GenerationGivenUp: 'info',
  ManifestOrder: 'error',
  ManifestOverlap: 'error',
  ManifestRange: 'error',
  ManifestKey: 'warning',
  ManifestLocal: 'error',
  ManifestBeyondTail: 'error',
  HistoryHole: 'info',
  ObjectMissing: 'error',
  ObjectMismatch: 'error',
  ProducersStale: 'warning',
  ProducersMismatch: 'error',
  KeysStale: 'warning',
  KeysEntry: 'warning',
  KeysLastChecksum: 'warning',
  UncleanStop: 'warning info',
  StorageIdMismatch: 'warning',
  DirectoryName: 'error',
  TimestampOddity: 'info',
  Unreadable: 'error',
  ChangedWhileReading: 'info',
};

/** Titles of the sections of the format page. */
const SECTIONS = [
  'Goals',
  'Conventions',
  'Magic numbers',
  'Directory layout',
  'Segment file',
  'Segment header (32 bytes)',
  'Record',
  'Producer marks',
  'Generation-start records',
  'Index file',
  'Index header (24 bytes)',
  'Index entry (16 bytes)',
  'Compatibility and corruption behaviour',
  'What recovery may repair',
  'Golden vectors',
  'Version history',
  'Versioning policy',
  'Limits',
  'epochs: the generation history',
  'replica: the accepted generation and the commit offset',
  'ballot: whom the generation was accepted from',
  'offload.manifest: segments with a copy in the object store',
  'producers: the producer snapshot',
  'keys.idx: a cache\u2019s key index',
  'storage-id and run-state: the data directory\u2019s identity',
];

const COMMANDS =
  /^felix-fsck (?:inspect|verify|dump-records|locate|hexdump|decode-manifest|diff-epochs|rebuild-index|repair-tail|salvage|heal|explain|evidence) /;

const KIND_LIST = Object.keys(CATALOGUE) as FindingKind[];

function row<K extends FindingKind>(kind: K): CatalogueRow<K> {
  return CATALOGUE[kind];
}

function say<K extends FindingKind>(kind: K, detail: FindingDetails[K], known: Partial<FindingContext> = {}): string {
  return row(kind).sentence(detail, contextOf(known));
}

function next<K extends FindingKind>(
  kind: K,
  detail: FindingDetails[K],
  known: Partial<FindingContext> = {},
): string | null {
  return row(kind).next(detail, contextOf(known));
}

const CRCS = { expected: '0x00000000', found: '0xc2b6d0f5' };
const TAIL = { ...CRCS, resumedAt: null, offset: 21n, intactAfter: 0 };
const FOLLOWED = { ...CRCS, resumedAt: 511, offset: 21n, intactAfter: 3 };

describe('catalogue', () => {
  it('has a row for every kind of the contract and no other, with its severities', () => {
    const rows = KIND_LIST.map((kind) => [kind, CATALOGUE[kind].severities.join(' ')]);
    expect(Object.fromEntries(rows)).to.deep.equal(KINDS);
  });

  it('says in every row how it comes about, what a broker does and when it is how bad', () => {
    for (const kind of KIND_LIST) {
      const { title, severityRule, cause, evidence, broker, severities } = CATALOGUE[kind];
      for (const text of [title, severityRule, cause, evidence, broker]) {
        expect(text, kind).to.match(/^[^\p{C}]{8,}$/u);
        expect(text, kind).not.to.match(/ {2}|undefined|not described/i);
      }
      expect(title, kind).not.to.match(/\.$/);
      for (const text of [severityRule, cause, evidence, broker]) expect(text, kind).to.match(/\.$/);
      const ranks = severities.map((severity) => SEVERITIES.indexOf(severity));
      expect(ranks, kind).to.deep.equal(ranks.toSorted((a, b) => b - a));
    }
  });

  it('offers a way out wherever something is to be done, with commands that exist', () => {
    for (const kind of KIND_LIST) {
      const { remedies, severities } = CATALOGUE[kind];
      if (severities.includes('fatal') || severities.includes('error')) expect(remedies, kind).not.to.have.length(0);
      for (const { what, loses, command } of remedies) {
        expect(what, kind).to.match(/\.$/);
        expect(loses, kind).to.match(/\.$/);
        if (command !== null) expect(command, kind).to.match(COMMANDS);
      }
    }
  });

  it('cites sections that the format page has', () => {
    for (const kind of KIND_LIST) {
      const { section } = CATALOGUE[kind];
      if (section !== null) expect(SECTIONS, kind).to.include(section);
    }
  });

  for (const kind of KIND_LIST) {
    it(`says ${kind} in one printable sentence, and a command of one line, for any text on disk`, () => {
      expectSaneWords(kind);
    });
  }
});

function expectSaneWords<K extends FindingKind>(kind: K): void {
  fc.assert(
    fc.property(DETAILS[kind], contexts, (detail, context) => {
      const sentence = row(kind).sentence(detail, context);
      expect(sentence).to.match(/^[^\p{C}\p{Zl}\p{Zp}]+\.$/u);
      expect(sentence.length).to.be.lessThan(8000);
      expect(sentence).not.to.match(/undefined|NaN|\[object/);
      const command = row(kind).next(detail, context);
      if (command === null) return;
      expect(command).to.match(COMMANDS);
      expect(command).to.match(/^[^\p{C}\p{Zl}\p{Zp}]+$/u);
    }),
    { numRuns: 60 },
  );
}

describe('sentences of the catalogue', () => {
  it('calls zeros to the end of the file unwritten space', () => {
    const known = { looksLike: 'zeros', damagedRange: { from: 426, to: 4522 } };
    const expected = '4,096 zero bytes after the last record: unwritten space, nothing follows.';
    expect(say('RecordHeaderChecksum', TAIL, known)).to.equal(expected);
    expect(say('RecordHeaderChecksum', TAIL, { ...known, newest: false })).to.contain(
      'nothing follows in this segment',
    );
    expect(say('RecordHeaderChecksum', FOLLOWED, known)).not.to.contain('unwritten');
    const first = { ...known, damagedRange: { from: 32, to: 64 } };
    expect(say('RecordHeaderChecksum', TAIL, first)).to.contain('32 zero bytes after the segment header');
  });

  it('tells what is lost, or that it is not known', () => {
    const one = say('RecordChecksum', FOLLOWED, {
      damagedRange: { from: 426, to: 511 },
      lostOffsets: { from: 16n, to: 17n },
    });
    expect(one).to.equal(
      'The record at position 426 does not match its checksum (stored 0x00000000, computed 0xc2b6d0f5); ' +
        '85 bytes damaged, positions 426..511; intact again from position 511 (3 intact records in this file); ' +
        '1 record lost: offset 16.',
    );
    expect(say('RecordChecksum', FOLLOWED, { lostOffsets: { from: 16n, to: 19n } })).to.contain(
      '3 records lost: offsets 16..19',
    );
    expect(say('RecordChecksum', FOLLOWED, { lostOffsets: { from: 16n, to: 16n } })).to.contain('no record lost');
    expect(say('RecordFlags', { ...TAIL, found: '0xc0000010' })).to.contain('how many records are lost is not known');
  });

  it('names a flipped bit and how likely it is chance', () => {
    const bitFlip = { position: 430, bit: 3, field: 'offset', chance: 224 / 2 ** 32 };
    expect(say('RecordHeaderChecksum', { ...FOLLOWED, bitFlip }, { looksLike: 'bit-flip' })).to.contain(
      'one flipped bit explains it: bit 3 of the byte at position 430 (field offset); the chance that random damage looks so is about 1 in 19,000,000',
    );
  });

  it('says what the bytes look like, in the words of the scan when it has any', () => {
    const like = { looksLike: 'foreign', likeness: 'a block of 78 bytes between header and payload' };
    expect(say('RecordChecksum', FOLLOWED, like)).to.contain(
      '; it looks like a block of 78 bytes between header and payload;',
    );
    expect(say('RecordChecksum', FOLLOWED, { looksLike: 'foreign' })).to.contain('; foreign bytes lie within it;');
    expect(say('RecordChecksum', FOLLOWED, { looksLike: 'xz' })).to.contain('; the bytes look like xz;');
  });

  it('tells an unfinished write at the end from a record that is not whole', () => {
    const detail = { needed: 65, available: 20, resumedAt: null, offset: 21n };
    expect(say('Truncated', detail)).to.equal(
      'The last record at position 426 is an unfinished write: 65 bytes needed, 20 bytes there; nothing intact follows.',
    );
    expect(say('Truncated', { ...detail, resumedAt: 480, intactAfter: 2 })).to.contain(
      'is not whole: 65 bytes needed, 20 bytes there; intact again from position 480 (2 intact records in this file)',
    );
    expect(say('Truncated', detail, { file: '00000000000000000002.index' })).to.equal(
      'The index header is short: 65 bytes needed, 20 bytes there.',
    );
  });

  it('tells a gap between segments from one within, and names what would fill it', () => {
    const detail = { expected: 8n, found: 15n, fill: '00000000000000000001.log.repair' };
    const between = { site: { segment: 2n, position: 0 }, lostOffsets: { from: 8n, to: 15n }, newest: false };
    expect(say('OffsetOutOfOrder', detail, between)).to.equal(
      'Segment 2 begins at offset 15 where the segment before it ends at offset 8; 7 records lost: offsets 8..15; ' +
        'a file beside it would fill the gap: 00000000000000000001.log.repair.',
    );
    expect(say('OffsetOutOfOrder', { expected: 15n, found: 8n })).to.contain('offsets 8..15 come a second time');
    expect(say('OffsetOutOfOrder', { expected: 21n, found: 20n })).to.contain('offset 20 comes a second time');
  });

  it('never calls an unknown version or what could not be read by the words for damage', () => {
    const words = /corrupt|damage|broken|invalid/i;
    for (const kind of ['SegmentVersion', 'Unreadable'] as const) {
      const { title, severityRule, cause, evidence, broker } = CATALOGUE[kind];
      for (const text of [title, severityRule, cause, evidence, broker]) expect(text, kind).not.to.match(words);
    }
    expect(say('SegmentVersion', { found: 7 })).to.match(/version 7: written by another build/);
    expect(say('SegmentVersion', { found: 7 })).not.to.match(words);
    expect(say('SidecarVersion', { known: 1, found: 2 })).to.match(/written by another build/);
    expect(say('Unreadable', { reason: 'i/o error', code: 'EIO' })).not.to.match(/corrupt|damage|short|empty/i);
  });

  it('shows text from disk escaped', () => {
    expect(say('GenerationGivenUp', { generation: 3n })).to.contain('generation 3');
    expect(say('BallotBehind', { ballot: 1n, accepted: 2n, leader: 'a\u001b[2J\u202eb' })).to.contain(
      'leader "a\\x1b[2J\\u{202e}b" at generation 1',
    );
  });
});

describe('next steps of the catalogue', () => {
  const replicas = ['r1', 'a replica'];

  it('proposes the default cut for an unfinished write, and no flag more', () => {
    const detail = { needed: 65, available: 20, resumedAt: null };
    expect(next('Truncated', detail, { cutAtOpen: true })).to.equal('felix-fsck repair-tail shard');
    expect(next('Truncated', detail, { cutAtOpen: true, replicas })).to.equal('felix-fsck repair-tail shard');
  });

  it('proposes the zero-tail cut for unwritten space at the end', () => {
    expect(next('RecordHeaderChecksum', TAIL, { looksLike: 'zeros', cutWithOptIn: true })).to.equal(
      'felix-fsck repair-tail --allow zero-tail shard',
    );
  });

  it('proposes the checksum-tail cut where the opt-in covers it, or a cut by position where nothing does', () => {
    expect(next('RecordChecksum', TAIL, { cutWithOptIn: true })).to.equal(
      'felix-fsck repair-tail --allow checksum-tail shard',
    );
    expect(next('RecordChecksum', TAIL, { cutAtOpen: true })).to.equal(
      'felix-fsck repair-tail --allow checksum-tail shard',
    );
    expect(next('RecordFlags', { ...TAIL, found: '0xc0000010' })).to.equal('felix-fsck repair-tail --cut-at 426 shard');
  });

  it('asks a replica first for a whole record that may have been acknowledged', () => {
    expect(next('RecordChecksum', TAIL, { cutWithOptIn: true, replicas })).to.equal(
      "felix-fsck heal shard --from r1 'a replica'",
    );
  });

  it('never proposes a cut where intact records follow, in a sealed segment, or in front of the first record', () => {
    for (const kind of KIND_LIST) expectNoHarmfulCut(kind);
  });

  it('proposes to heal from replicas, then from the object, and to salvage when there is neither', () => {
    const sealed = { newest: false, objectKey: 'node/dir/00000000000000000008-00000000000000000001.segment' };
    expect(next('RecordChecksum', FOLLOWED, { ...sealed, replicas: ['r1'] })).to.equal(
      'felix-fsck heal shard --from r1',
    );
    expect(next('RecordChecksum', FOLLOWED, sealed)).to.equal(
      'felix-fsck heal shard --from OBJECTS/node/dir/00000000000000000008-00000000000000000001.segment',
    );
    expect(next('RecordChecksum', FOLLOWED)).to.equal('felix-fsck salvage shard --to DIR');
    expect(next('CommitBeyondTail', { commit: 9n, tail: 8n, missing: 1n })).to.equal(
      'felix-fsck salvage shard --to DIR',
    );
  });

  it('suspects what is derived first: an index is rebuilt, and a snapshot left to the broker', () => {
    for (const kind of ['IndexMagic', 'IndexVersion', 'IndexFlags', 'IndexMissing', 'IndexBaseOffset'] as const) {
      expect(row(kind).next({ found: 0 } as never, contextOf({ severity: 'warning' })), kind).to.equal(
        'felix-fsck rebuild-index shard',
      );
    }
    const short = { needed: 24, available: 3 };
    expect(next('Truncated', short, { file: '00000000000000000002.index' })).to.equal('felix-fsck rebuild-index shard');
    expect(next('IndexTornEntry', { bytes: 3 }, { severity: 'info' })).to.equal(null);
    expect(next('SidecarChecksum', CRCS, { severity: 'warning', file: 'producers' })).to.equal(null);
  });

  it('looks before it leaps at a small file that cannot be rebuilt', () => {
    const at = { severity: 'fatal', file: 'replica', site: { position: 24 }, shardPath: "'a shard'" } as const;
    expect(next('SidecarChecksum', CRCS, at)).to.equal("felix-fsck hexdump 'a shard'/replica --at 24");
    expect(next('SidecarChecksum', CRCS, { ...at, replicas: ['r1'] })).to.equal("felix-fsck diff-epochs 'a shard' r1");
    expect(next('SidecarChecksum', CRCS, { ...at, file: 'offload.manifest' })).to.equal(
      "felix-fsck decode-manifest 'a shard'/offload.manifest",
    );
    expect(next('SidecarVersion', { known: 1, found: 2 }, at)).to.equal('felix-fsck explain SidecarVersion');
  });

  it('offers no cut for what could not be read, nor for what another build wrote', () => {
    expect(next('Unreadable', { reason: 'i/o error', code: 'EIO' })).to.equal('felix-fsck explain Unreadable');
    expect(next('SegmentVersion', { found: 7 }, { replicas: ['r1'] })).to.equal('felix-fsck explain SegmentVersion');
  });

  it('looks at bytes that are another file under the name of a segment', () => {
    const at = { site: { position: 0 }, looksLike: 'gzip-compressed data' };
    expect(next('SegmentMagic', { found: '0x1f8b0800' }, at)).to.equal(
      'felix-fsck hexdump shard/00000000000000000002.log --at 0',
    );
    expect(next('SegmentMagic', { found: '0x00000000' }, { looksLike: 'zeros' })).to.match(/salvage/);
  });
});

function expectNoHarmfulCut<K extends FindingKind>(kind: K): void {
  if (kind === 'AbandonedSegment' || kind === 'BlankFirstSegment') return;
  fc.assert(
    fc.property(DETAILS[kind], contexts, (detail, context) => {
      const command = row(kind).next(detail, context) ?? '';
      if (!command.startsWith('felix-fsck repair-tail')) return;
      expect(command).not.to.contain('--lose-intact');
      expect(context.newest && context.intactAfter === 0).to.equal(true);
      expect(context.site.position ?? context.damagedRange?.from ?? 0).to.be.at.least(32);
    }),
    { numRuns: 40 },
  );
}
