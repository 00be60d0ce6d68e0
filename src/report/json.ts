/**
 * Reports as JSON, for scripts ("felix-fsck.verify/1").
 *
 * Offsets, ids, generations, sequences and timestamps are u64 and become decimal strings; positions, sizes and counts stay
 * numbers. Keys come in one order. Any text is safe: what JSON does not escape by itself but a terminal might obey, or show
 * in a misleading order, is written as `\u` escapes, which parse back to the same text. Every text ends with a newline.
 */

import type { Finding, Site } from '../domain/finding.js';
import type {
  FailingRead,
  Prediction,
  RootReport,
  SegmentReport,
  ShardReport,
  Summary,
  VerifyReport,
} from '../domain/report.js';

const VERIFY_SCHEMA = 'felix-fsck.verify/1';

/** A shard with more findings than this is one line. */
const READABLE = 1000;

export interface ToolIdentity {
  readonly name: string;
  readonly version: string;
}

/** C1 controls and DEL, format and bidirectional controls, line and paragraph separators, the byte order mark. */
const UNSAFE = /[\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/** The same of a character's code, for who has no string. */
export function isUnsafe(code: number): boolean {
  if (code < 0x2000) return (code >= 0x7f && code < 0xa0) || code === 0xad || code === 0x61c || code === 0x180e;
  if (code < 0x2070) return (code >= 0x200b && code < 0x2010) || (code >= 0x2028 && code < 0x202f) || code >= 0x2060;
  return code === 0xfeff || (code >= 0xfff9 && code < 0xfffc);
}

/**
 * Any value as JSON text: a bigint becomes a decimal string, keys keep the order in which they were made, bytes are not
 * expected. With `indent`, that many spaces a level; without, one line. No newline at the end.
 */
export function toJson(value: unknown, indent = 0): string {
  const text = JSON.stringify(value, (_key, item) => (typeof item === 'bigint' ? item.toString() : item), indent);
  return text.replace(UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** One value as a line of NDJSON. */
export function toJsonLine(value: unknown): string {
  return `${toJson(value)}\n`;
}

/** One value as JSON for reading by people too. */
export function toJsonDocument(value: unknown): string {
  return `${toJson(value, 2)}\n`;
}

/** `verify --format json`, for a report that is complete. */
export function renderVerifyJson(report: VerifyReport, tool: ToolIdentity): string {
  const writer = verifyJsonWriter(tool);
  const shards = report.shards.map((shard) => writer.shard(shard)).join('');
  for (const root of report.roots) writer.root(root);
  return shards + writer.end(report.summary, report.partial);
}

/** A report as it comes in: each call gives the text to write now, which may be empty. */
export interface VerifyWriter {
  shard(report: ShardReport): string;
  root(report: RootReport): string;
  end(summary: Summary, partial: boolean): string;
}

/**
 * One object, written a shard at a time so that no number of them has to be held. `root` is the first data root; `roots`
 * is there when there are several.
 */
export function verifyJsonWriter(tool: ToolIdentity): VerifyWriter {
  const head = toJson({ schema: VERIFY_SCHEMA, tool: toolJson(tool) }, 2).replace(/\n}$/, '');
  const roots: object[] = [];
  let shards = 0;
  const opening = () => (shards++ === 0 ? `${head},\n  "shards": [\n    ` : ',\n    ');
  return {
    shard(report) {
      // Thousands of findings are not for reading, and indenting them would double what has to be held.
      if (report.findings.length > READABLE) return opening() + toJson(shardJson(report));
      return opening() + toJson(shardJson(report), 2).replaceAll('\n', '\n    ');
    },
    root(report) {
      roots.push(rootJson(report));
      return '';
    },
    end(summary, partial) {
      const rest = {
        root: roots[0] ?? null,
        ...(roots.length > 1 ? { roots } : {}),
        partial,
        summary: summaryJson(summary),
      };
      const closing = shards === 0 ? `${head},\n  "shards": []` : '\n  ]';
      return `${closing},${toJson(rest, 2).slice(1)}\n`;
    },
  };
}

/** A line for each shard and root as it comes in, and one for the summary. */
export function verifyLineWriter(tool: ToolIdentity): VerifyWriter {
  return {
    shard: renderShardLine,
    root: renderRootLine,
    end: (summary, partial) => renderSummaryLine(summary, tool, partial),
  };
}

/** One shard as a line of NDJSON: the same object as in `shards`, with its type in front. */
export function renderShardLine(shard: ShardReport): string {
  return toJsonLine({ type: 'shard', ...shardJson(shard) });
}

/** One data root as a line of NDJSON. */
export function renderRootLine(root: RootReport): string {
  return toJsonLine({ type: 'root', ...rootJson(root) });
}

/** The last line of NDJSON. */
export function renderSummaryLine(summary: Summary, tool: ToolIdentity, partial: boolean): string {
  return toJsonLine({
    type: 'summary',
    schema: VERIFY_SCHEMA,
    tool: toolJson(tool),
    partial,
    ...summaryJson(summary),
  });
}

/** All of `verify --format ndjson`, for a report that is complete. */
export function renderVerifyNdjson(report: VerifyReport, tool: ToolIdentity): string {
  const shards = report.shards.map(renderShardLine).join('');
  const roots = report.roots.map(renderRootLine).join('');
  return shards + roots + renderSummaryLine(report.summary, tool, report.partial);
}

function toolJson(tool: ToolIdentity): object {
  return { name: tool.name, version: tool.version };
}

function shardJson(shard: ShardReport): object {
  return {
    path: shard.path,
    name: shard.name,
    key: shard.key,
    incarnation: shard.incarnation,
    baseOffset: shard.baseOffset,
    tailOffset: shard.tailOffset,
    segments: shard.segments.map(segmentJson),
    sidecars: shard.sidecars.map(({ file, bytes, state, facts }) => ({ file, bytes, state, facts })),
    coverage: shard.coverage?.map(({ from, to, where }) => ({ from, to, where })) ?? null,
    findings: shard.findings.map(findingJson),
    omitted: shard.omitted.map(({ file, kind, count }) => ({ file, kind, count })),
    notChecked: shard.notChecked,
    prediction: predictionJson(shard.prediction),
    bytesRead: shard.bytesRead,
  };
}

function segmentJson(segment: SegmentReport): object {
  return {
    id: segment.id,
    file: segment.file,
    version: segment.version,
    baseOffset: segment.baseOffset,
    nextOffset: segment.nextOffset,
    createdAtMicros: segment.createdAtMicros,
    records: segment.records,
    bytes: segment.bytes,
    verifiedBytes: segment.verifiedBytes,
    damagedBytes: segment.damagedBytes,
    unreadBytes: segment.unreadBytes,
    skippedSinceMicros: segment.skippedSinceMicros,
    firstTimestampMicros: segment.firstTimestampMicros,
    lastTimestampMicros: segment.lastTimestampMicros,
    index:
      segment.index === null
        ? null
        : {
            file: segment.index.file,
            entries: segment.index.entries,
            usable: segment.index.usable,
            checkedEntries: segment.index.checkedEntries,
            notJudgedEntries: segment.index.notJudgedEntries,
          },
  };
}

/** A finding in the contract's order of keys. */
export function findingJson(finding: Finding): object {
  return {
    kind: finding.kind,
    severity: finding.severity,
    site: siteJson(finding.site),
    file: finding.file,
    path: finding.path,
    detail: finding.detail,
    lostOffsets: finding.lostOffsets === null ? null : { from: finding.lostOffsets.from, to: finding.lostOffsets.to },
    damagedRange:
      finding.damagedRange === null ? null : { from: finding.damagedRange.from, to: finding.damagedRange.to },
    looksLike: finding.looksLike,
    message: finding.message,
    next: finding.next,
  };
}

function siteJson(site: Site): object {
  return { shard: site.shard, segment: site.segment, position: site.position };
}

function predictionJson(prediction: Prediction): object {
  return {
    verdict: prediction.verdict,
    refusals: prediction.refusals.map(({ kind, site }) => ({ kind, site: siteJson(site) })),
    repairs: prediction.repairs.map((repair) => ({
      action: repair.action,
      file: repair.file,
      fromBytes: repair.fromBytes,
      toBytes: repair.toBytes,
      recordsLost: repair.recordsLost,
      intactRecordsLost: repair.intactRecordsLost,
    })),
    tailOffsetAfter: prediction.tailOffsetAfter,
    readsThatFail: prediction.readsThatFail.map(failingReadJson),
    notJudged: prediction.notJudged,
  };
}

function failingReadJson(read: FailingRead): object {
  return { kind: read.kind, site: siteJson(read.site), fromOffset: read.fromOffset, toOffset: read.toOffset };
}

function rootJson(root: RootReport): object {
  return {
    path: root.path,
    findings: root.findings.map(findingJson),
    storageId: root.storageId,
    runState:
      root.runState === null
        ? null
        : {
            state: root.runState.state,
            acknowledgesBeforeSync: root.runState.acknowledgesBeforeSync,
            id: root.runState.id,
          },
    registration: root.registration,
    nodeId: root.nodeId,
    layouts: root.layouts,
    streams: root.streams.map(({ name, text }) => ({ name, text })),
    deleted: root.deleted,
  };
}

function summaryJson(summary: Summary): object {
  const { info, warning, error, fatal } = summary.findings;
  return {
    shards: summary.shards,
    segments: summary.segments,
    records: summary.records,
    bytes: summary.bytes,
    verifiedBytes: summary.verifiedBytes,
    damagedBytes: summary.damagedBytes,
    unreadBytes: summary.unreadBytes,
    skippedBytes: summary.skippedBytes,
    findings: { info, warning, error, fatal },
    worst: summary.worst,
    exitCode: summary.exitCode,
    elapsedMs: summary.elapsedMs,
  };
}
