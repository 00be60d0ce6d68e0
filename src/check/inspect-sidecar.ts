/**
 * One small file as `inspect` shows it: its fields by the layout tables, and whether what it checks itself with holds.
 *
 * A file is told by the layout of what its bytes are; whether it is sound is judged by the decoder of the name it has, as
 * a broker would. A damaged file is told as far as it goes.
 */

import type { Severity } from '../domain/finding.js';
import type { InspectedFact, InspectedSidecar, InspectedState } from '../domain/inspection.js';
import type { SidecarReading } from '../domain/sidecar.js';
import { BALLOT_LAYOUT, decodeBallot } from '../format/ballot.js';
import type { ByteFeed } from '../format/bytes.js';
import { decodeEpochs, EPOCHS_LAYOUT } from '../format/epochs.js';
import { identify } from '../format/identify.js';
import { decodeKeysIndex, KEYS_INDEX_LAYOUT } from '../format/keys-index.js';
import type { Layout } from '../format/layout.js';
import { decodeManifest, MANIFEST_LAYOUT } from '../format/manifest.js';
import { decodeProducers, PRODUCERS_LAYOUT } from '../format/producers.js';
import { decodeRegistration, REGISTRATION_PACKED_LAYOUT, REGISTRATION_PADDED_LAYOUT } from '../format/registration.js';
import { decodeReplica, REPLICA_LAYOUT } from '../format/replica.js';
import { decodeRunState, RUN_STATE_LAYOUT } from '../format/run-state.js';
import { decodeStorageId, STORAGE_ID_PACKED_LAYOUT, STORAGE_ID_PADDED_LAYOUT } from '../format/storage-id.js';
import { Window } from '../scan/window.js';
import { ReadFailure } from '../store/byte-source.js';
import { FileSource, type RawPath } from '../store/file-source.js';
import { Judge, type Judgement } from './judgement.js';
import { layoutFacts } from './layout-facts.js';
import type { Subject } from './make-finding.js';
import type { SidecarFile } from './shard-facts.js';
import { reportSidecarDamage } from './sidecar-damage.js';

/** Elements told of a repeat; `--full` tells more. */
const TOLD_ELEMENTS = 64;
const TOLD_ELEMENTS_FULL = 4096;
const FEED_BYTES = 128 * 1024;
const IDENTIFYING_BYTES = 1024;

/** What is known of a kind of small file. */
export interface SidecarForm {
  readonly decode: (feed: ByteFeed) => SidecarReading<unknown>;
  /** Of damage in it, by the contract. */
  readonly severity: Severity;
  /** The table by which its bytes are named. */
  layoutOf(feed: ByteFeed): Layout;
}

/** By the name of the file, which is the name of its kind too. */
export const SIDECAR_FORMS: ReadonlyMap<string, SidecarForm> = new Map<string, SidecarForm>([
  ['epochs', { decode: decodeEpochs, severity: 'warning', layoutOf: () => EPOCHS_LAYOUT }],
  ['replica', { decode: decodeReplica, severity: 'fatal', layoutOf: () => REPLICA_LAYOUT }],
  ['ballot', { decode: decodeBallot, severity: 'fatal', layoutOf: () => BALLOT_LAYOUT }],
  ['offload.manifest', { decode: (feed) => decodeManifest(feed), severity: 'fatal', layoutOf: () => MANIFEST_LAYOUT }],
  ['producers', { decode: decodeProducers, severity: 'warning', layoutOf: () => PRODUCERS_LAYOUT }],
  ['keys.idx', { decode: (feed) => decodeKeysIndex(feed), severity: 'warning', layoutOf: () => KEYS_INDEX_LAYOUT }],
  ['run-state', { decode: decodeRunState, severity: 'error', layoutOf: () => RUN_STATE_LAYOUT }],
  [
    'storage-id',
    {
      decode: decodeStorageId,
      severity: 'error',
      layoutOf: (feed) =>
        isPacked(decodeStorageId(feed).claimed.layout, feed, 26) ? STORAGE_ID_PACKED_LAYOUT : STORAGE_ID_PADDED_LAYOUT,
    },
  ],
  [
    'registration',
    {
      decode: decodeRegistration,
      severity: 'error',
      layoutOf: (feed) =>
        isPacked(decodeRegistration(feed).claimed.layout, feed, 18)
          ? REGISTRATION_PACKED_LAYOUT
          : REGISTRATION_PADDED_LAYOUT,
    },
  ],
]);

function isPacked(layout: string | undefined, feed: ByteFeed, packedLength: number): boolean {
  return layout === undefined ? feed.size <= packedLength : layout === 'packed';
}

export interface SidecarInspection {
  readonly sidecar: InspectedSidecar;
  /** What is wrong with it on its own. */
  readonly judgement: Judgement;
}

/** Opens and reads one small file under the name `file`, which is one of {@link SIDECAR_FORMS}. */
export function inspectSidecar(
  path: RawPath,
  file: string,
  size: number,
  subject: Subject,
  full: boolean,
): SidecarInspection {
  const form = SIDECAR_FORMS.get(file)!;
  const judge = new Judge(subject);
  const done = (state: InspectedState, bytes: number, facts: InspectedFact[]): SidecarInspection => ({
    sidecar: { file, bytes, state, facts },
    judgement: judge.judgement,
  });
  let source: FileSource | null = null;
  try {
    source = FileSource.open(path);
    const feed = new Window(source, FEED_BYTES);
    const reading = form.decode(feed);
    const sidecar: SidecarFile<unknown> = { file, size: source.size, reading, problem: null };
    reportSidecarDamage(judge, sidecar, form.severity);
    const state = reading.damage.length > 0 ? 'damaged' : 'sound';
    return done(state, source.size, sidecarFacts(file, feed, full));
  } catch (failure) {
    if (!(failure instanceof ReadFailure)) throw failure;
    const { code, message, position } = failure;
    reportSidecarDamage(judge, { file, size, reading: null, problem: { code, message, position } }, form.severity);
    return done('unreadable', size, []);
  } finally {
    source?.close();
  }
}

/** The fields of a small file by what its bytes are, or by its name when they are nothing known. */
function sidecarFacts(file: string, feed: ByteFeed, full: boolean): InspectedFact[] {
  const { kind } = identify(feed.view(0, Math.min(IDENTIFYING_BYTES, feed.size)), feed.size);
  const form = SIDECAR_FORMS.get(kind) ?? SIDECAR_FORMS.get(file)!;
  return layoutFacts(form.layoutOf(feed), feed, full ? TOLD_ELEMENTS_FULL : TOLD_ELEMENTS);
}
