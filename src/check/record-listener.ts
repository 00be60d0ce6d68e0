/**
 * A sink for those who only look at some of what a walk shows, and at no payload.
 */

import type { LocatedRecord } from '../domain/location.js';
import type { DamageRow, RecordSink, RecordView } from '../domain/record-view.js';
import { u64From } from '../format/bytes.js';
import { segmentFileName } from '../format/names.js';

export interface RecordListener {
  record?(view: RecordView): void;
  damage?(row: DamageRow): void;
}

export function listening({ record, damage }: RecordListener): RecordSink {
  return {
    place: () => {},
    record: (view) => record?.(view),
    begin: (view) => {
      record?.(view);
      return 0;
    },
    piece: () => {},
    again: () => false,
    end: () => {},
    damage: (row) => damage?.(row),
    missing: () => {},
  };
}

/** What is kept of a record. */
export function locatedRecord(view: RecordView): LocatedRecord {
  return {
    segment: view.segment,
    file: segmentFileName(view.segment),
    position: view.position,
    end: view.position + view.recordBytes,
    offset: u64From(view.offsetHigh, view.offsetLow),
    timestampMicros: u64From(view.timestampHigh, view.timestampLow),
    kind: view.kind,
    batch: view.batch === null ? null : { ...view.batch },
    payloadBytes: view.payloadBytes,
    checksum: view.checksum,
  };
}
