/**
 * The records of a salvage as lines of NDJSON, the same that `dump-records` prints of the new shard.
 */

import type { BatchPlace } from '../domain/record-view.js';
import type { RunStart, SalvagedRecord } from '../domain/salvage.js';
import { decodeTag, RECORD_HEADER_LEN, RECORD_TAG_LEN } from '../format/record.js';
import type { RecordSpot, RecordText } from '../repair/salvage-writer.js';
import { RecordJson } from '../report/record-json.js';
import { StreamedRecord } from '../scan/record-stream.js';

type OpenBatch = { -readonly [K in keyof BatchPlace]: BatchPlace[K] };

interface RunState {
  batch: OpenBatch | null;
}

/** A multiple of three, so that base64 of the pieces is that of the whole. */
const PIECE_BYTES = 192 * 1024;

export class RecordLines implements RecordText {
  readonly extension = 'ndjson';
  readonly #shard: string;
  readonly #json: RecordJson;
  readonly #record = new StreamedRecord();
  readonly #runs = new Map<number, RunState>();
  #place: { run: number; segment: bigint } | null = null;

  constructor(tool: { readonly name: string; readonly version: string }, shard: { name: string; key: string | null }) {
    this.#json = new RecordJson(tool, false);
    this.#shard = shard.key ?? shard.name;
  }

  open({ run }: RunStart): void {
    this.#runs.set(run, { batch: null });
  }

  *textOf(run: number, record: SalvagedRecord, { segment, position }: RecordSpot): Iterable<Uint8Array> {
    if (this.#place?.run !== run || this.#place.segment !== segment) {
      this.#place = { run, segment };
      this.#json.place({ shard: this.#shard, segment });
    }
    const [first] = record.pieces();
    const data = new DataView(first!.buffer, first!.byteOffset, first!.length);
    const view = this.#record;
    view.segment = segment;
    if (first!.length === record.length) {
      view.take(first!, data, 0, data.getUint8(0) >>> 5, position, record.length);
      this.#fill(run, first!);
      this.#json.record(view);
      yield this.#taken();
      return;
    }
    const head = first!.slice(0, RECORD_HEADER_LEN + RECORD_TAG_LEN);
    view.takeLong(new DataView(head.buffer), position, record.length);
    this.#fill(run, head);
    this.#json.begin(view);
    yield this.#taken();
    const start = record.length - view.payloadBytes;
    do {
      for (const piece of inThrees(record, start)) {
        this.#json.piece(piece);
        yield this.#taken();
      }
    } while (this.#json.again());
    this.#json.end(true);
    yield this.#taken();
  }

  #taken(): Uint8Array {
    const { out } = this.#json;
    const { written } = out;
    out.clear();
    return written;
  }

  /** What the bytes of one record alone do not say: its batch, and the generation that it starts. */
  #fill(run: number, bytes: Uint8Array): void {
    const view = this.#record;
    const state = this.#runs.get(run)!;
    const open = state.batch;
    state.batch = null;
    if (view.kind === 'opens') {
      const { producerId, sequence, len } = decodeTag(bytes, RECORD_HEADER_LEN);
      state.batch = { producer: producerId, sequence, index: 0, length: len };
    } else if (view.kind === 'continues' && open !== null && open.index + 1 < open.length) {
      open.index++;
      state.batch = open;
    }
    view.batch = state.batch;
    view.takeGeneration();
  }
}

/** The bytes of a record from `start` on, in pieces whose lengths are multiples of three, but for the last. */
function* inThrees(record: SalvagedRecord, start: number): Generator<Uint8Array, void> {
  const buffer = Buffer.allocUnsafe(PIECE_BYTES);
  let filled = 0;
  let skip = start;
  for (const piece of record.pieces()) {
    let rest = piece.subarray(Math.min(skip, piece.length));
    skip -= piece.length - rest.length;
    while (rest.length > 0) {
      const part = rest.subarray(0, PIECE_BYTES - filled);
      buffer.set(part, filled);
      filled += part.length;
      rest = rest.subarray(part.length);
      if (filled === PIECE_BYTES) {
        yield buffer;
        filled = 0;
      }
    }
  }
  if (filled > 0) yield buffer.subarray(0, filled);
}
