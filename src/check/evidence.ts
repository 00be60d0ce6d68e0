/**
 * What the damaged bytes of a shard look like: opens each damaged segment once, and asks the scan's evidence.
 *
 * Evidence is for showing and for choosing a way out. It never changes what is damaged, nor how severe that is.
 */

import { RangeChecksums, recordBitFlip, segmentHeaderBitFlip } from '../scan/bit-flip.js';
import { looksLike } from '../scan/evidence.js';
import type { Damage } from '../scan/range-scan.js';
import { type ByteSource, ReadFailure } from '../store/byte-source.js';
import type { DamageEvidence, EvidenceOf } from './segments.js';
import type { SegmentFacts, ShardFacts } from './shard-facts.js';

/** Damages of a segment that are looked at; the others are reported without evidence. */
const LOOKED_AT = 2000;
const NONE: DamageEvidence = { looksLike: null, likeness: null, bitFlip: null };

interface OpenSegment {
  readonly source: ByteSource & { close(): void };
  readonly checksums: RangeChecksums;
  looked: number;
}

export class EvidenceReader {
  readonly #facts: ShardFacts;
  #file: string | null = null;
  #open: OpenSegment | null = null;

  constructor(facts: ShardFacts) {
    this.#facts = facts;
  }

  /** Damages of one segment are best asked for one after another: only one file is open at a time. */
  readonly of: EvidenceOf = (segment, damage) => {
    const open = this.#segment(segment);
    if (open === null || open.looked >= LOOKED_AT) return NONE;
    open.looked++;
    return damage === null ? headerEvidence(segment, open) : recordEvidence(segment, damage, open);
  };

  close(): void {
    this.#open?.source.close();
    this.#open = null;
    this.#file = null;
  }

  #segment(segment: SegmentFacts): OpenSegment | null {
    if (this.#file === segment.file) return this.#open;
    this.close();
    this.#file = segment.file;
    try {
      const source = this.#facts.open(segment.file);
      this.#open = { source, checksums: new RangeChecksums(source), looked: 0 };
    } catch (failure) {
      if (!(failure instanceof ReadFailure)) throw failure;
    }
    return this.#open;
  }
}

function headerEvidence(segment: SegmentFacts, { source }: OpenSegment): DamageEvidence {
  const { head, records } = segment.scan!;
  const kind = head.headerDamage!.kind;
  const to = (records?.records ?? 0) > 0 ? head.headerBytes.length : segment.size;
  const evidence = looksLike(source, { from: 0, to }, kind, { expectedOffset: null });
  return {
    looksLike: evidence?.slug ?? null,
    likeness: evidence?.phrase ?? null,
    bitFlip: segmentHeaderBitFlip(head.headerBytes),
  };
}

function recordEvidence(segment: SegmentFacts, damage: Damage, { source, checksums }: OpenSegment): DamageEvidence {
  const { kind } = damage.corruption;
  const range = { from: damage.position, to: damage.end };
  const expectedOffset = damage.offset;
  const bitFlip = recordBitFlip(source, damage.position, segment.size, expectedOffset, kind, damage.end, checksums);
  const { claimedEnd, resumedAt } = damage;
  const context = { expectedOffset, claimedEnd, resumedAt, bitFlip, checksums };
  const evidence = looksLike(source, range, kind, context);
  return { looksLike: evidence?.slug ?? null, likeness: evidence?.phrase ?? null, bitFlip };
}
