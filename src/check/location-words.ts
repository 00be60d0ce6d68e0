/**
 * The sentences that `locate` answers with.
 */

import type { HoldingObject, LocatedRecord, LocationState, TimeWalk } from '../domain/location.js';
import type { DamageRow } from '../domain/record-view.js';
import { counted, lostWords, quoted } from '../domain/wording.js';
import type { Offloaded } from './whereabouts.js';

/** What the local log holds, and what the manifest says of the object store. */
export interface LogExtent {
  readonly baseOffset: bigint | null;
  readonly tailOffset: bigint | null;
  readonly offloaded: Offloaded;
  /** Only one file of the shard was looked at. */
  readonly sole: boolean;
}

export interface OffsetAnswer {
  readonly offset: bigint;
  readonly state: LocationState;
  readonly found: LocatedRecord | null;
  readonly damage: DamageRow | null;
  readonly object: HoldingObject | null;
}

export function offsetMessage({ offset, state, found, damage, object }: OffsetAnswer, extent: LogExtent): string {
  const copy = object === null ? '' : `; ${objectWords(object)}`;
  const what = extent.sole ? 'file' : 'log';
  switch (state) {
    case 'here':
      return `Offset ${offset} is in segment ${found!.segment} at position ${found!.position}.`;
    case 'lost':
      return `Offset ${offset} is lost: ${damageWords(damage)}${copy}.`;
    case 'unreadable':
      return `Offset ${offset} is where bytes cannot be read: ${damageWords(damage)}${copy}.`;
    case 'trimmed':
      if (extent.sole) return `Offset ${offset} is not in this file: it begins at ${extent.baseOffset}.`;
      return `Offset ${offset} was trimmed: the log begins at ${extent.baseOffset}.`;
    case 'hole':
      return `Offset ${offset} is neither here nor offloaded: the log begins at ${extent.baseOffset}, and the manifest leaves it out.`;
    case 'offloaded':
      return `Offset ${offset} is offloaded: the log begins at ${extent.baseOffset}${copy}.`;
    case 'past-tail': {
      const held = damage === null ? '' : `, and ${damageWords(damage)} may have held it`;
      return `Offset ${offset} is past the tail: the ${what} ends at ${extent.tailOffset}${held}.`;
    }
    case 'unknown':
      return `Nothing that is here tells where offset ${offset} is${copy}.`;
  }
}

function damageWords(damage: DamageRow | null): string {
  if (damage === null) return 'it is in no record of the log';
  const { kind, segment, damagedRange, position, lostOffsets } = damage;
  const place = damagedRange === null ? `position ${position}` : `positions ${damagedRange.from}..${damagedRange.to}`;
  const lost = lostOffsets === null ? '' : ` (${lostWords(lostOffsets)})`;
  return `${kind} in segment ${segment}, ${place}${lost}`;
}

function objectWords({ key, baseOffset, lastOffset }: HoldingObject): string {
  return `the manifest has offsets ${baseOffset} to ${lastOffset} in object ${quoted(key, 200)}`;
}

export function offsetNotes(records: readonly LocatedRecord[], { offloaded }: LogExtent): string[] {
  const notes: string[] = [];
  if (records.length > 1) {
    const places = records.map(({ segment, position, checksum }) => {
      return `segment ${segment} position ${position} (checksum 0x${checksum.toString(16).padStart(8, '0')})`;
    });
    notes.push(`${counted(records.length, 'record')} have this offset: ${places.join(', ')}.`);
  }
  if (offloaded.unknown !== null) notes.push(`${offloaded.unknown}.`);
  return notes;
}

export function timeMessage(
  timeMicros: bigint,
  state: LocationState,
  found: LocatedRecord | null,
  time: TimeWalk,
): string {
  if (found !== null) {
    const { offset, segment, position } = found;
    return `The first record at or after this time has offset ${offset}: segment ${segment}, position ${position}.`;
  }
  if (time.latestMicros === null) return 'There is no record to compare with this time.';
  const read = state === 'unreadable' ? 'that could be read' : 'here';
  return `No record ${read} is as late as ${timeMicros}: the latest of ${counted(time.records, 'record')} has ${time.latestMicros}.`;
}

export function timeNotes(
  { records, descent }: TimeWalk,
  damage: DamageRow | null,
  object: HoldingObject | null,
  { baseOffset, offloaded }: LogExtent,
): string[] {
  const notes: string[] = [];
  if (descent !== null) {
    const { offset, timestampMicros, previousMicros } = descent;
    notes.push(
      `Timestamps do not ascend: offset ${offset} has ${timestampMicros} behind ${previousMicros}. ` +
        'Records behind the one named here may be earlier than the time asked for.',
    );
  } else if (records > 1) notes.push(`Timestamps ascend over the ${counted(records, 'record')} that were read.`);
  if (damage !== null) notes.push(`A record may have been lost on the way: ${damageWords(damage)}.`);
  if (object !== null) {
    notes.push(`An earlier record may be as late: the local log begins at ${baseOffset}, and ${objectWords(object)}.`);
  }
  if (offloaded.unknown !== null) notes.push(`${offloaded.unknown}.`);
  return notes;
}
