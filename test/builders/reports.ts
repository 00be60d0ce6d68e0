/**
 * Hand-made reports, for the tests of what is said of them. Every value is given here; nothing is computed by a check.
 */

import type { Finding, FindingKind, Severity } from '../../src/domain/finding.js';
import type {
  BrokerSettings,
  Prediction,
  RootReport,
  SegmentReport,
  ShardReport,
  Summary,
  VerifyReport,
} from '../../src/domain/report.js';
import { U64_MAX } from '../../src/domain/units.js';

export const DEFAULTS: BrokerSettings = { repairChecksumTail: false, verifyAllOnOpen: false, indexSpacing: 4096 };
export const TOOL = { name: 'felix-fsck', version: '0.1.0' };

/** Names that no terminal and no JSON reader may meet raw. */
export const HOSTILE = '\u001b[2J\u0007a\nb\tc\u0000d\u009be\u202ef\u200bg\ud800h\u2028i';
/** What must not be in any text for people, beside line feeds. */
export const RAW = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u;

const START = 1_767_225_600_000_000n;

export function segmentReport(id: bigint, parts: Partial<SegmentReport> = {}): SegmentReport {
  const digits = id.toString().padStart(20, '0');
  return {
    id,
    file: `${digits}.log`,
    version: 3,
    baseOffset: id * 8n,
    nextOffset: id * 8n + 8n,
    createdAtMicros: START,
    records: 8,
    bytes: 434,
    verifiedBytes: 434,
    damagedBytes: 0,
    unreadBytes: 0,
    skippedSinceMicros: null,
    firstTimestampMicros: START + id,
    lastTimestampMicros: START + id + 1n,
    index: { file: `${digits}.index`, entries: 1, usable: true, checkedEntries: 1, notJudgedEntries: 0 },
    ...parts,
  };
}

export function prediction(parts: Partial<Prediction> = {}): Prediction {
  return {
    verdict: 'opens',
    refusals: [],
    repairs: [],
    tailOffsetAfter: 24n,
    readsThatFail: [],
    notJudged: [],
    ...parts,
  };
}

export function shardReport(parts: Partial<ShardReport> = {}): ShardReport {
  return {
    path: '/data/acme_default_orders_0-0d3aed4b998d2798',
    name: 'acme_default_orders_0-0d3aed4b998d2798',
    key: 'acme/default/orders/0',
    incarnation: null,
    baseOffset: 0n,
    tailOffset: 24n,
    segments: [segmentReport(0n), segmentReport(1n), segmentReport(2n)],
    sidecars: [],
    coverage: null,
    findings: [],
    omitted: [],
    notChecked: [],
    prediction: prediction(),
    bytesRead: 1302,
    ...parts,
  };
}

/** A finding of a kind whose details do not matter to the test. */
export function finding(kind: FindingKind, severity: Severity, parts: Partial<Omit<Finding, 'kind'>> = {}): Finding {
  return {
    kind,
    severity,
    site: { shard: 'acme/default/orders/0', segment: 1n, position: 86 },
    file: '00000000000000000001.log',
    path: '/data/acme_default_orders_0-0d3aed4b998d2798/00000000000000000001.log',
    detail: {},
    lostOffsets: null,
    damagedRange: null,
    looksLike: null,
    message: 'Something is true of the data.',
    next: null,
    ...parts,
  } as Finding;
}

/** The shard of the contract's example: zeros behind the last record of the newest segment. */
export function zeroTailShard(): ShardReport {
  const site = { shard: 'acme/default/orders/0', segment: 2n, position: 426 };
  return shardReport({
    tailOffset: 21n,
    segments: [
      segmentReport(0n),
      segmentReport(1n, { nextOffset: 15n, records: 7, bytes: 391, verifiedBytes: 391 }),
      segmentReport(2n, {
        baseOffset: 15n,
        nextOffset: 21n,
        records: 6,
        bytes: 4522,
        verifiedBytes: 426,
        damagedBytes: 4096,
      }),
    ],
    findings: [
      finding('RecordHeaderChecksum', 'fatal', {
        site,
        file: '00000000000000000002.log',
        detail: { expected: '0x00000000', found: '0x0fd59b8d', resumedAt: null, offset: 21n },
        lostOffsets: { from: 21n, to: 21n },
        damagedRange: { from: 426, to: 4522 },
        looksLike: 'zeros',
        message: '4,096 zero bytes after the last record: unwritten space, nothing follows.',
        next: 'felix-fsck repair-tail --allow zero-tail /data/acme_default_orders_0-0d3aed4b998d2798',
      }),
    ],
    prediction: prediction({
      verdict: 'refuses',
      refusals: [{ kind: 'RecordHeaderChecksum', site }],
      tailOffsetAfter: null,
    }),
  });
}

export function rootReport(parts: Partial<RootReport> = {}): RootReport {
  return {
    path: '/data',
    findings: [],
    storageId: '00112233-4455-6677-8899-aabbccddeeff',
    runState: { state: 'stopped', acknowledgesBeforeSync: false, id: '00112233-4455-6677-8899-aabbccddeeff' },
    registration: U64_MAX,
    nodeId: 'node-1',
    layouts: { 'storage-id': 'padded' },
    streams: [],
    deleted: [],
    ...parts,
  };
}

export function summaryOf(shards: readonly ShardReport[], exitCode: number, parts: Partial<Summary> = {}): Summary {
  return {
    shards: shards.length,
    segments: shards.reduce((sum, shard) => sum + shard.segments.length, 0),
    records: 21,
    bytes: 5347,
    verifiedBytes: 1251,
    damagedBytes: 4096,
    unreadBytes: 0,
    skippedBytes: 0,
    findings: { info: 0, warning: 0, error: 0, fatal: 0 },
    worst: null,
    exitCode,
    elapsedMs: 12,
    ...parts,
  };
}

export function verifyReport(
  shards: readonly ShardReport[],
  exitCode = 0,
  parts: Partial<VerifyReport> = {},
): VerifyReport {
  return { partial: false, shards, roots: [], summary: summaryOf(shards, exitCode), ...parts };
}
