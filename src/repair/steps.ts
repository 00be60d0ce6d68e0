/**
 * Carrying out one step of a plan on one file, and knowing afterwards how far it got.
 *
 * New content is written beside the file under a temporary name, held to the size and checksum that the plan promises,
 * given the owner and mode of the old, synced, and renamed into place; then the directory is synced. So a file is as
 * before or as after, and doing a step again after a crash is safe. What a step reads is checked as it is read; nothing here
 * decides whether a step should be done.
 */

import type { ContentPart, FileState, PlanStep } from '../domain/plan.js';
import { crc32, hex32 } from '../format/checksum.js';
import { type ByteSource, ReadFailure } from '../store/byte-source.js';
import { digestFile, PinnedFile } from '../store/file-digest.js';
import { type PathFacts, pathFacts } from '../store/path-facts.js';
import { joinShown } from '../store/walk.js';
import type { DurableFs } from './durable-fs.js';
import { isState } from './plan-file.js';
import { temporaryOf } from './shard-file.js';

/** Makes the index of a segment: the image that a writer with this spacing would have made of its bytes up to `end`. */
export type IndexMaker = (segment: ByteSource, end: number, spacing: number) => Uint8Array;

/** What a step works with. */
export interface StepTools {
  readonly fs: DurableFs;
  /** Absolute path of the shard's directory. */
  readonly shard: string;
  readonly makeIndex: IndexMaker;
}

/** Something is not what the plan said, and somebody else must have changed it. Nothing more was renamed. */
export class NotAsPlanned extends Error {}

/** How a file stands to a step. */
export type Standing = 'before' | 'after' | 'neither';

/** Looks at the file of a step. Throws {@link ReadFailure}. */
export function standingOf(shard: string, step: PlanStep): Standing {
  const state = stateOf(joinShown(shard, step.file));
  if (isState(state, step.before)) return 'before';
  return isState(state, step.after) ? 'after' : 'neither';
}

/** What a path holds; null when there is nothing. Throws {@link ReadFailure}, for a link too. */
export function stateOf(path: string): FileState | null {
  if (pathFacts(path) === null) return null;
  const { size, crc32 } = digestFile(path);
  return { size, crc32 };
}

/** Who owns a file and what may be done with it. */
export type Ownership = Pick<PathFacts, 'mode' | 'uid' | 'gid'>;

/** Takes the file of a step from before to after. `ownership` is given to what is made. */
export function doStep(tools: StepTools, step: PlanStep, ownership: Ownership): void {
  const path = joinShown(tools.shard, step.file);
  if (step.after === null) {
    tools.fs.unlink(path);
    tools.fs.syncDirectory(tools.shard);
    return;
  }
  const temporary = joinShown(tools.shard, temporaryOf(step.file));
  removeIfThere(tools.fs, temporary);
  writeNew(tools.fs, temporary, ownership, contentOf(tools, step), { file: step.file, state: step.after });
  tools.fs.rename(temporary, path);
  tools.fs.syncDirectory(tools.shard);
}

/**
 * Writes a new file and syncs it, holding the bytes to what they should come to. The name is not durable yet, and a file
 * that did not come out right is left behind under it.
 */
export function writeNew(
  fs: DurableFs,
  path: string,
  { mode, uid, gid }: Ownership,
  content: Iterable<Uint8Array>,
  promised: { readonly file: string; readonly state: FileState } | null,
): FileState {
  const writer = fs.createFile(path, 0o600);
  try {
    let size = 0;
    let crc = 0;
    for (const piece of content) {
      writer.write(piece);
      size += piece.length;
      crc = crc32(piece, crc);
    }
    const state = { size, crc32: hex32(crc) };
    if (promised !== null && !isState(state, promised.state)) {
      const { size: wanted, crc32: wantedCrc } = promised.state;
      throw new NotAsPlanned(
        `the new content of ${promised.file} is not what the plan says: ${size} bytes, ${state.crc32}, not ${wanted} bytes, ${wantedCrc}`,
      );
    }
    // An owner is given first: giving it may take bits of the mode away.
    const own = pathFacts(path);
    if (own !== null && (own.uid !== uid || own.gid !== gid)) writer.setOwner(uid, gid);
    if (mode !== 0o600) writer.setMode(mode);
    writer.sync();
    return state;
  } finally {
    writer.close();
  }
}

export function removeIfThere(fs: DurableFs, path: string): void {
  if (pathFacts(path) !== null) fs.unlink(path);
}

/** The new content of a step's file, a piece at a time. Throws {@link ReadFailure}. */
function* contentOf(tools: StepTools, step: PlanStep): Generator<Uint8Array> {
  for (const part of step.content) yield* partOf(tools, step.file, part);
}

function* partOf(tools: StepTools, file: string, part: ContentPart): Generator<Uint8Array> {
  switch (part.from) {
    case 'plan':
      yield Buffer.from(part.base64, 'base64');
      return;
    case 'itself':
      yield* rangeOf(joinShown(tools.shard, file), part.start, part.end);
      return;
    case 'file': {
      let crc = 0;
      for (const piece of rangeOf(part.path, part.start, part.end)) {
        crc = crc32(piece, crc);
        yield piece;
      }
      if (hex32(crc) !== part.crc32) throw new NotAsPlanned(`${part.path} has changed since the plan was made`);
      return;
    }
    case 'records': {
      const segment = PinnedFile.open(joinShown(tools.shard, part.segment));
      try {
        yield tools.makeIndex(segment, part.end, part.spacing);
      } finally {
        segment.close();
      }
    }
  }
}

function* rangeOf(path: string, start: number, end: number): Generator<Uint8Array> {
  const source = PinnedFile.open(path);
  try {
    if (end > source.size) throw new ReadFailure('SHRANK', source.size, `${path} is shorter than the plan says`);
    yield* source.pieces(start, end);
  } finally {
    source.close();
  }
}
