/**
 * The shards under `fixtures/`, to try the tool on: `node dist/test/builders/make-fixtures.js fixtures` writes them.
 *
 * Their bytes depend on nothing but this code. Each one says what `verify` has to make of it, by the contract and not by
 * what the tool does.
 */

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { FindingKind } from '../../src/domain/finding.js';
import { encodeBallot } from '../../src/format/ballot.js';
import { encodeEpochs } from '../../src/format/epochs.js';
import { encodeManifest } from '../../src/format/manifest.js';
import type { LogRecord } from '../../src/format/record.js';
import { encodeRegistration } from '../../src/format/registration.js';
import { encodeReplica } from '../../src/format/replica.js';
import { encodeRunState } from '../../src/format/run-state.js';
import { encodeStorageId } from '../../src/format/storage-id.js';
import { append, type Damage, damaged, deleteFile, flipBit, remove, truncate } from './damage.js';
import { plain, plainRun, sequence } from './records.js';
import { buildSegment } from './segments.js';
import {
  buildShard,
  indexName,
  logName,
  type PresetShard,
  SHARD_DIR_NAME,
  type ShardImage,
  shardOf,
  threeSegments,
  v4WithGenerations,
} from './shards.js';
import { cacheShard, offloaded } from './sidecars.js';

type Files = ReadonlyMap<string, Uint8Array>;

export interface Fixture {
  readonly name: string;
  readonly shows: string;
  /** What to give to `verify`, below the fixture's folder. */
  readonly paths: readonly string[];
  readonly exit: number;
  /** Every finding of severity warning or worse. */
  readonly findings: readonly { readonly kind: FindingKind; readonly file: string; readonly position?: number }[];
  /** By path below the fixture's folder. */
  readonly files: Files;
}

export function fixtures(): readonly Fixture[] {
  return [
    healthy(),
    flippedBitInPayload(),
    flippedBitInLength(),
    tornTail(),
    zeroTail(),
    halfRecordThenGoodOnes(),
    missingSegment(),
    indexPointsElsewhere(),
    damagedReplicaFile(),
    offloadWithAHole(),
    dataRootWithOneBadShard(),
    divergedReplicas(),
  ];
}

/** Every file under `fixtures/`, by its path there. */
export function fixtureFiles(): Files {
  const all = fixtures();
  const files = new Map<string, Uint8Array>([['README.md', new TextEncoder().encode(readme(all))]]);
  for (const fixture of all) {
    for (const [name, bytes] of fixture.files) files.set(`${fixture.name}/${name}`, bytes);
  }
  return files;
}

function healthy(): Fixture {
  return {
    name: 'healthy',
    shows:
      'Three segments, one of them v3 and two v4, with `epochs`, `replica` and `ballot` that agree: nothing to report.',
    ...oneShard(v4WithGenerations().image),
    exit: 0,
    findings: [],
  };
}

function flippedBitInPayload(): Fixture {
  const shard = largeRecords();
  const position = shard.segments[1]!.positions[10]!;
  return {
    name: 'flipped-bit-in-payload',
    shows:
      'One bit of a payload in a sealed segment. The broker opens the shard without a word; the first read that crosses the record fails.',
    ...oneShard(shard.image, flipBit(logName(1), position + 100, 5)),
    exit: 21,
    findings: [{ kind: 'RecordChecksum', file: logName(1), position }],
  };
}

function flippedBitInLength(): Fixture {
  const shard = threeSegments();
  const position = shard.segments[2]!.positions[2]!;
  return {
    name: 'flipped-bit-in-length',
    shows:
      'One bit of a length in the newest segment. The broker refuses to open the shard, and three intact records lie behind the damage.',
    ...oneShard(shard.image, flipBit(logName(2), position + 3, 3)),
    exit: 22,
    findings: [{ kind: 'RecordHeaderChecksum', file: logName(2), position }],
  };
}

function tornTail(): Fixture {
  const shard = threeSegments();
  const newest = shard.segments[2]!;
  return {
    name: 'torn-tail',
    shows:
      'The last record was being written when the power went. The broker cuts it off by itself, and nothing acknowledged is lost.',
    ...oneShard(shard.image, truncate(logName(2), newest.log.length - 9)),
    exit: 20,
    findings: [{ kind: 'Truncated', file: logName(2), position: newest.positions[5]! }],
  };
}

function zeroTail(): Fixture {
  const shard = threeSegments();
  const { log } = shard.segments[2]!;
  return {
    name: 'zero-tail',
    shows:
      '4,096 zero bytes behind the last record, as power loss leaves them. No record is lost, and still the broker refuses to open the shard.',
    ...oneShard(shard.image, append(logName(2), new Uint8Array(4096))),
    exit: 22,
    findings: [{ kind: 'RecordHeaderChecksum', file: logName(2), position: log.length }],
  };
}

function halfRecordThenGoodOnes(): Fixture {
  const shard = threeSegments();
  const first = shard.segments[1]!.nextOffset;
  const records = plainRun(first, 6).map((record, at) =>
    at === 2 ? plain(record.offset, { payloadLength: 1500 }) : record,
  );
  const newest = buildSegment({ records });
  const [start, end] = [newest.positions[2]!, newest.positions[3]!];
  const image = buildShard({ segments: [...shard.segments.slice(0, 2), newest] });
  return {
    name: 'half-record-then-good-ones',
    shows:
      'A full disk cut a record short, and writes went on behind it. It looks like a torn tail: the broker would cut it off, and three intact records with it.',
    ...oneShard(image, remove(logName(2), start + 200, end - start - 200)),
    exit: 21,
    findings: [{ kind: 'Truncated', file: logName(2), position: start }],
  };
}

function missingSegment(): Fixture {
  return {
    name: 'missing-segment',
    shows: 'The middle segment is gone, offsets 8 to 14 with it. The broker refuses to open the shard.',
    ...oneShard(threeSegments().image, deleteFile(logName(1)), deleteFile(indexName(1))),
    exit: 22,
    findings: [{ kind: 'OffsetOutOfOrder', file: logName(2), position: 0 }],
  };
}

function indexPointsElsewhere(): Fixture {
  const shard = largeRecords();
  const lastEntry = shard.segments[0]!.index.length - 16;
  return {
    name: 'index-points-elsewhere',
    shows:
      'The last entry of a sealed index points into a record, and the broker refuses to open the shard. Every record is intact: a new index is the cure.',
    ...oneShard(shard.image, flipBit(indexName(0), lastEntry + 15, 3)),
    exit: 22,
    findings: [{ kind: 'IndexEntry', file: indexName(0) }],
  };
}

function damagedReplicaFile(): Fixture {
  return {
    name: 'damaged-replica-file',
    shows:
      'One bit of the commit offset in `replica`. Nothing in the log can rebuild it, and the broker refuses to open the shard.',
    ...oneShard(v4WithGenerations().image, flipBit('replica', 23, 4)),
    exit: 22,
    findings: [{ kind: 'SidecarChecksum', file: 'replica', position: 24 }],
  };
}

function offloadWithAHole(): Fixture {
  const shard = shardOf([{ parts: [5] }, { parts: [5] }, { parts: [5] }, { parts: [5] }, { parts: [5] }]);
  const entries = [0, 2].map((id) => offloaded(shard.segments[id]!, BigInt(id)));
  const gone = [0, 1, 2].flatMap((id) => [deleteFile(logName(id)), deleteFile(indexName(id))]);
  const image = new Map([...damaged(shard.image, ...gone), ['offload.manifest', encodeManifest({ entries })] as const]);
  return {
    name: 'offload-with-a-hole',
    shows:
      'Segments 0 and 2 were offloaded and 1 never was, so offsets 5 to 9 are nowhere. `objects` is the object store; the object of segment 2 is missing there, which only `--objects` can tell.',
    paths: [SHARD_DIR_NAME],
    files: new Map([...below(SHARD_DIR_NAME, image), [`objects/${entries[0]!.key}`, shard.segments[0]!.log] as const]),
    exit: 0,
    findings: [],
  };
}

function dataRootWithOneBadShard(): Fixture {
  const id = '7b1d5e0c9a4f42d88e3605c1f2a7b390';
  const bad = threeSegments();
  const newest = bad.segments[2]!;
  return {
    name: 'data-root-with-one-bad-shard',
    shows:
      'A data directory that was stopped cleanly. One shard of four has a flipped bit in the timestamp of a record; the others, a cache among them, are sound.',
    paths: ['.'],
    files: new Map([
      ['storage-id', encodeStorageId({ id, layout: 'padded' })],
      ['run-state', encodeRunState({ state: 'stopped', acknowledgesBeforeSync: false, id })],
      ['registration', encodeRegistration({ incarnation: 77n, layout: 'padded' })],
      ['node-id', new TextEncoder().encode('broker-a')],
      ...below(SHARD_DIR_NAME, damaged(bad.image, flipBit(logName(2), newest.positions[0]! + 15, 0))),
      ...below('acme_default_orders_1-0d3aee4b998d294b', shardOf([{ parts: [5] }, { parts: [4] }]).image),
      ...below('acme_default_payments_1-feaf86568f3eb763', shardOf([{ parts: [9] }], { first: 4_096n }).image),
      ...below('caches/acme_default_sessions_0-bfcd5fd64b667526', cacheShard().image),
    ]),
    exit: 22,
    findings: [{ kind: 'RecordHeaderChecksum', file: logName(2), position: newest.positions[0]! }],
  };
}

/**
 * Generation 2 began at offset 10 on all three. Broker a led it and wrote on alone; broker b was elected at 12 and wrote
 * generation 3, which broker c follows.
 */
function divergedReplicas(): Fixture {
  const shared = buildSegment({ records: sequence(0n, [10]) });
  const inherited = sequence(10n, [{ generation: 2n }, 1]);
  const epochs = [
    { generation: 1n, startOffset: 0n },
    { generation: 2n, startOffset: 10n },
    { generation: 3n, startOffset: 12n },
  ];
  const alone = plainRun(12n, 4, { payloadLength: 33 });
  const replica = (records: readonly LogRecord[], generation: number, commit: bigint, leader: string) =>
    buildShard({
      segments: [shared, buildSegment({ version: 4, records: [...inherited, ...records] })],
      sidecars: {
        epochs: encodeEpochs({ entries: epochs.slice(0, generation) }),
        replica: encodeReplica({ generation: BigInt(generation), commit }),
        ballot: encodeBallot({ generation: BigInt(generation), leader }),
      },
    });
  const paths = ['broker-a', 'broker-b', 'broker-c'].map((broker) => `${broker}/${SHARD_DIR_NAME}`);
  return {
    name: 'diverged-replicas',
    shows:
      'Three replicas of one shard, each sound by itself. Broker a led generation 2 and wrote offsets 12 to 15 alone; b and c hold generation 3 from 12 on. `diff-epochs` says who has to cut what.',
    paths,
    files: new Map([
      ...below(paths[0]!, replica(alone, 2, 12n, 'broker-a')),
      ...below(paths[1]!, replica(sequence(12n, [{ generation: 3n }, 5]), 3, 16n, 'broker-b')),
      ...below(paths[2]!, replica(sequence(12n, [{ generation: 3n }, 2]), 3, 14n, 'broker-b')),
    ]),
    exit: 0,
    findings: [],
  };
}

/** Two sealed segments with three index entries each at the default spacing, and a short one. */
function largeRecords(): PresetShard {
  const plans = [plainRun(0n, 30, { payloadLength: 300 }), plainRun(30n, 30, { payloadLength: 300 }), plainRun(60n, 4)];
  const segments = plans.map((records) => buildSegment({ records }));
  return { image: buildShard({ segments }), segments, tail: 64n };
}

function oneShard(image: ShardImage, ...damages: readonly Damage[]): Pick<Fixture, 'paths' | 'files'> {
  return { paths: [SHARD_DIR_NAME], files: new Map(below(SHARD_DIR_NAME, damaged(image, ...damages))) };
}

function below(folder: string, image: ShardImage): (readonly [string, Uint8Array])[] {
  return [...image].map(([name, bytes]) => [`${folder}/${name}`, bytes] as const);
}

function readme(all: readonly Fixture[]): string {
  const rows = all.map(({ name, shows, exit }) => `| \`${name}\` | ${shows} | ${exit} |`);
  return `# Shards to try felix-fsck on

Each folder holds one shard of the stream acme/default/orders, or a few, with one thing wrong. Looking changes nothing:

    felix-fsck verify fixtures/zero-tail/${SHARD_DIR_NAME}

Repairs write, so try them on a copy.

| folder | what it shows | exit code of \`verify\` |
| --- | --- | --- |
${rows.join('\n')}

Every byte is made by \`test/builders/make-fixtures.ts\`: \`node dist/test/builders/make-fixtures.js fixtures\` writes these
files again after a build, and a test holds them to it.
`;
}

/** Replaces the fixtures' folders below `root`; leaves anything else there alone. */
export function writeFixtures(root: string): void {
  for (const { name } of fixtures()) rmSync(path.join(root, name), { recursive: true, force: true });
  for (const [name, bytes] of fixtureFiles()) {
    const file = path.join(root, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, bytes);
  }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [, , root] = process.argv;
  if (root === undefined) throw new Error('usage: make-fixtures.js DIRECTORY');
  writeFixtures(root);
}
