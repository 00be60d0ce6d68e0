/**
 * The command to run next, for each kind of finding.
 *
 * What is proposed is never more than a look or a plan, but for a repair that was begun already and wants its end: every
 * command here is safe to run as it stands, and a cut is proposed only where nothing intact follows the damage. A record that may have been acknowledged is first asked of a
 * replica or of the object store.
 */

import type { FindingContext } from './catalogue-row.js';
import type { FindingDetails, FindingKind, ScanContext } from './finding.js';
import { shellJoined, shellPath } from './shell-words.js';

export type NextStep<K extends FindingKind> = (detail: FindingDetails[K], context: FindingContext) => string | null;

/** First byte behind a segment header: no cut is ever proposed in front of it. */
const FIRST_RECORD = 32;

/** True when the damage is zeros to the end of the file: space that was never written. */
export function isZeroTail(detail: ScanContext, context: FindingContext): boolean {
  return context.looksLike === 'zeros' && !isFollowed(detail, context);
}

/** Intact records behind the damage in the same file. */
export function intactBehind(detail: ScanContext, context: FindingContext): number {
  return Math.max(context.intactAfter, detail.intactAfter ?? 0);
}

function isFollowed(detail: ScanContext, context: FindingContext): boolean {
  return typeof detail.resumedAt === 'number' || intactBehind(detail, context) > 0;
}

function explain(kind: FindingKind): string {
  return `felix-fsck explain ${kind}`;
}

/** The file of the finding as one word of a shell. */
function fileWord(context: FindingContext): string | null {
  return context.file === null ? null : shellJoined(context.shardPath, context.file);
}

function replicaWords(context: FindingContext): string {
  return context.replicas.map(shellPath).join(' ');
}

/** Bytes taken from elsewhere, or null when the operator named no place and the manifest knows of none. */
function heal(context: FindingContext): string | null {
  if (context.replicas.length > 0) return `felix-fsck heal ${context.shardPath} --from ${replicaWords(context)}`;
  if (context.objectKey !== null) {
    return `felix-fsck heal ${context.shardPath} --from ${shellJoined('OBJECTS', context.objectKey)}`;
  }
  return null;
}

function healOrSalvage(context: FindingContext): string {
  return heal(context) ?? `felix-fsck salvage ${context.shardPath} --to DIR`;
}

function rebuildIndex(context: FindingContext): string | null {
  return context.severity === 'info' ? null : `felix-fsck rebuild-index ${context.shardPath}`;
}

function diffEpochs(context: FindingContext): string | null {
  if (context.replicas.length === 0) return null;
  return `felix-fsck diff-epochs ${context.shardPath} ${replicaWords(context)}`;
}

function hexdump(context: FindingContext, kind: FindingKind, at = context.site.position ?? 0): string {
  const file = fileWord(context);
  return file === null ? explain(kind) : `felix-fsck hexdump ${file} --at ${at}`;
}

function decodeManifest(context: FindingContext, objects = false): string {
  const manifest = fileWord(context) ?? shellJoined(context.shardPath, 'offload.manifest');
  return `felix-fsck decode-manifest ${manifest}${objects ? ' --objects DIR' : ''}`;
}

/** Damage that a cut may answer; `byDefault` when a broker with default settings makes that cut. */
function recordStep(detail: ScanContext, context: FindingContext, byDefault: boolean): string {
  const position = context.site.position ?? context.damagedRange?.from;
  if (!context.newest || isFollowed(detail, context) || position === undefined || position < FIRST_RECORD) {
    return healOrSalvage(context);
  }
  // A broker cuts an unfinished write unless older damage comes first, and then a cut here would not make it open.
  if (byDefault) return context.cutAtOpen ? `felix-fsck repair-tail ${context.shardPath}` : healOrSalvage(context);
  if (isZeroTail(detail, context)) return `felix-fsck repair-tail --allow zero-tail ${context.shardPath}`;
  const healing = heal(context);
  if (healing !== null) return healing;
  if (context.cutAtOpen || context.cutWithOptIn) {
    return `felix-fsck repair-tail --allow checksum-tail ${context.shardPath}`;
  }
  return `felix-fsck repair-tail --cut-at ${position} ${context.shardPath}`;
}

/** A header that does not say that it is a segment's: other bytes may lie there, which a look at them tells. */
function segmentMagicStep(context: FindingContext): string {
  const known = ['zeros', 'bit-flip'].includes(context.looksLike ?? 'zeros');
  return known ? healOrSalvage(context) : (heal(context) ?? hexdump(context, 'SegmentMagic'));
}

/** A damaged small file: what the broker needs and cannot rebuild is looked at; the rest it replaces by itself. */
function sidecarStep(kind: FindingKind, context: FindingContext): string | null {
  const { file, severity } = context;
  if (severity === 'info') return null;
  if (file === 'offload.manifest') return decodeManifest(context);
  if (severity === 'fatal') return diffEpochs(context) ?? hexdump(context, kind);
  if (severity === 'error') return hexdump(context, kind);
  if (file === 'epochs') return diffEpochs(context) ?? explain(kind);
  return null;
}

/** Generations that contradict each other: only other replicas can tell which are right. */
function generationStep(kind: FindingKind, context: FindingContext): string {
  return diffEpochs(context) ?? explain(kind);
}

function nothing(): null {
  return null;
}

/** What an unfinished repair asks for; one that was carried out asks for nothing. */
function journalStep({ path, state }: { readonly path: string; readonly state: string }): string | null {
  if (state === 'applying') return `felix-fsck apply --resume ${shellPath(path)}`;
  return state === 'undoing' || state === 'preparing' ? `felix-fsck undo ${shellPath(path)}` : null;
}

export const NEXT_STEPS: { readonly [K in FindingKind]: NextStep<K> } = {
  SegmentMagic: (_, context) => segmentMagicStep(context),
  SegmentVersion: () => explain('SegmentVersion'),
  SegmentFlags: (_, context) => heal(context) ?? hexdump(context, 'SegmentFlags', 0),
  SegmentHeaderChecksum: (_, context) => healOrSalvage(context),
  ReservedNotZero: nothing,
  AbandonedSegment: (_, context) => `felix-fsck repair-tail ${context.shardPath}`,
  BlankFirstSegment: (_, context) => `felix-fsck repair-tail ${context.shardPath}`,
  NoSegments: (_, context) => heal(context) ?? explain('NoSegments'),
  SegmentFileName: () => explain('SegmentFileName'),
  StrayFile: (detail, context) => {
    if (detail.journal !== undefined) return journalStep(detail.journal);
    const file = fileWord(context);
    return detail.offsets === undefined || file === null ? null : `felix-fsck inspect ${file}`;
  },

  Truncated: (detail, context) =>
    context.file?.endsWith('.index') ? rebuildIndex(context) : recordStep(detail, context, true),
  RecordHeaderChecksum: (detail, context) => recordStep(detail, context, false),
  RecordChecksum: (detail, context) => recordStep(detail, context, false),
  RecordFlags: (detail, context) => recordStep(detail, context, false),
  RecordTooLarge: (detail, context) => recordStep(detail, context, false),
  // The record out of order is intact itself: what counts is what follows it.
  OffsetOutOfOrder: ({ intactAfter = 0 }, context) => recordStep({ intactAfter }, context, false),
  RecordKindForVersion: (_, context) => hexdump(context, 'RecordKindForVersion'),
  GenerationStartPayload: (_, context) => hexdump(context, 'GenerationStartPayload'),
  GenerationStartOrder: (_, context) => generationStep('GenerationStartOrder', context),
  BatchAbandoned: nothing,
  BatchIncomplete: nothing,
  BatchOrphan: nothing,
  TimestampOddity: nothing,

  IndexMagic: (_, context) => rebuildIndex(context),
  IndexVersion: (_, context) => rebuildIndex(context),
  IndexFlags: (_, context) => rebuildIndex(context),
  IndexMissing: (_, context) => rebuildIndex(context),
  IndexBaseOffset: (_, context) => rebuildIndex(context),
  IndexEntry: (_, context) => rebuildIndex(context),
  IndexTornEntry: (_, context) => rebuildIndex(context),

  SidecarMagic: (_, context) => sidecarStep('SidecarMagic', context),
  SidecarVersion: (_, context) => (context.severity === 'info' ? null : explain('SidecarVersion')),
  SidecarTruncated: (_, context) => sidecarStep('SidecarTruncated', context),
  SidecarTrailingBytes: (_, context) => sidecarStep('SidecarTrailingBytes', context),
  SidecarChecksum: (_, context) => sidecarStep('SidecarChecksum', context),
  SidecarField: (_, context) => sidecarStep('SidecarField', context),

  EpochOrder: (_, context) => generationStep('EpochOrder', context),
  EpochBeyondTail: (_, context) => generationStep('EpochBeyondTail', context),
  EpochCount: nothing,
  EpochGenerationStart: (_, context) => generationStep('EpochGenerationStart', context),
  CommitBeyondTail: (_, context) => healOrSalvage(context),
  ReplicaBehindEpochs: (_, context) => generationStep('ReplicaBehindEpochs', context),
  BallotBehind: nothing,
  BallotAhead: nothing,
  GenerationGivenUp: nothing,

  ManifestOrder: (_, context) => decodeManifest(context),
  ManifestOverlap: (_, context) => decodeManifest(context),
  ManifestRange: (_, context) => decodeManifest(context),
  ManifestKey: (_, context) => decodeManifest(context),
  ManifestLocal: (_, context) => decodeManifest(context, true),
  ManifestBeyondTail: (_, context) => heal(context) ?? decodeManifest(context, true),
  HistoryHole: nothing,
  ObjectMissing: (_, context) => heal(context) ?? explain('ObjectMissing'),
  ObjectMismatch: (_, context) => heal(context) ?? explain('ObjectMismatch'),

  ProducersStale: nothing,
  ProducersMismatch: () => explain('ProducersMismatch'),
  KeysStale: nothing,
  KeysEntry: nothing,
  KeysLastChecksum: nothing,

  UncleanStop: (_, context) => (context.severity === 'info' ? null : explain('UncleanStop')),
  StorageIdMismatch: () => explain('StorageIdMismatch'),
  DirectoryName: () => explain('DirectoryName'),
  Unreadable: () => explain('Unreadable'),
  ChangedWhileReading: (_, context) => `felix-fsck verify ${context.shardPath}`,
};
