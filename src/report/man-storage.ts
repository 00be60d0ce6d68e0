/**
 * The manual page of the format: every layout, from the tables that decode it.
 */

import { BALLOT_LAYOUT } from '../format/ballot.js';
import { CACHE_RECORD_LAYOUT, COUNTER_RECORD_LAYOUT } from '../format/cache-record.js';
import { EPOCHS_LAYOUT } from '../format/epochs.js';
import { INDEX_LAYOUT } from '../format/index.js';
import { COMPOSITE_KEY_LAYOUT, KEYS_INDEX_LAYOUT } from '../format/keys-index.js';
import type { FieldRef, Layout, LayoutField, LayoutItem } from '../format/layout.js';
import { MANIFEST_LAYOUT } from '../format/manifest.js';
import { PRODUCERS_LAYOUT } from '../format/producers.js';
import { RECORD_LAYOUT } from '../format/record.js';
import { REGISTRATION_PACKED_LAYOUT, REGISTRATION_PADDED_LAYOUT } from '../format/registration.js';
import { REPLICA_LAYOUT } from '../format/replica.js';
import { RUN_STATE_LAYOUT } from '../format/run-state.js';
import { SEGMENT_HEADER_LAYOUT } from '../format/segment-header.js';
import { STORAGE_ID_PACKED_LAYOUT, STORAGE_ID_PADDED_LAYOUT } from '../format/storage-id.js';
import type { Block, ManPage } from './roff.js';

/** In the order in which a reader meets them: the log, its index, the files of a shard, those of a data root. */
export const LAYOUTS: readonly Layout[] = [
  SEGMENT_HEADER_LAYOUT,
  RECORD_LAYOUT,
  INDEX_LAYOUT,
  EPOCHS_LAYOUT,
  REPLICA_LAYOUT,
  BALLOT_LAYOUT,
  MANIFEST_LAYOUT,
  PRODUCERS_LAYOUT,
  KEYS_INDEX_LAYOUT,
  COMPOSITE_KEY_LAYOUT,
  CACHE_RECORD_LAYOUT,
  COUNTER_RECORD_LAYOUT,
  STORAGE_ID_PADDED_LAYOUT,
  STORAGE_ID_PACKED_LAYOUT,
  RUN_STATE_LAYOUT,
  REGISTRATION_PADDED_LAYOUT,
  REGISTRATION_PACKED_LAYOUT,
];

export function storagePage(): ManPage {
  return {
    name: 'felix-storage',
    section: 5,
    purpose: 'files in which a Felix broker keeps its durable log',
    sections: [
      { title: 'Description', blocks: INTRODUCTION },
      { title: 'Files', blocks: [{ is: 'lines', lines: FILES }, ...NAMES] },
      { title: 'Layouts', blocks: LAYOUTS.flatMap(layoutBlocks) },
      {
        title: 'See also',
        blocks: [{ is: 'text', text: '`felix-fsck`(1), `felix-fsck-hexdump`(1), `felix-fsck-findings`(7)' }],
      },
    ],
  };
}

function layoutBlocks(layout: Layout): Block[] {
  return [
    { is: 'heading', text: `${layout.title} (${layout.name})` },
    { is: 'text', text: `Format page, section “${layout.section}”.` },
    { is: 'table', titles: ['at', 'size', 'type', 'field and meaning'], rows: rowsOf(layout.items, '', layout) },
  ];
}

/** Fields of a repeat or of a condition are named by it, in a row in front of them. */
function rowsOf(items: readonly LayoutItem[], within: string, layout: Layout): string[][] {
  return items.flatMap((item) => {
    if ('repeat' in item) {
      const many = item.count === 'rest' ? 'to the end of the file' : `${refText(item.count, layout)} times`;
      const name = `${within}${item.repeat}[]`;
      return [['', '', '', `\`${name}\` ${many}, each:`], ...rowsOf(item.items, `${name}.`, layout)];
    }
    if ('when' in item) {
      const { equals, mask } = item.when;
      const is = mask === equals ? 'is set' : `is ${equals}`;
      const condition = `only when ${refText(item.when, layout)} ${is}:`;
      return [['', '', '', condition], ...rowsOf(item.items, within, layout)];
    }
    return [fieldRow(item, within, layout), ...bitRows(item)];
  });
}

function fieldRow(field: LayoutField, within: string, layout: Layout): string[] {
  const { name, at, size, type, meaning, covers } = field;
  const over = covers === undefined || meaning.includes(covers) ? '' : ` over ${covers}`;
  return [
    at === undefined ? '' : String(at),
    typeof size === 'number' ? String(size) : size === 'rest' ? 'rest' : refText(size, layout),
    type,
    `\`${within}${name}\`: ${meaning}${over}`,
  ];
}

function bitRows(field: LayoutField): string[][] {
  return (field.bits ?? []).map(({ name, mask, meaning }) => ['', '', '', `${hexText(mask)} \`${name}\`: ${meaning}`]);
}

/** A field, or the bits of it that have a name. */
function refText({ field, mask }: FieldRef, layout: Layout): string {
  if (mask === undefined) return field;
  const bits = layout.items.flatMap((item) => ('type' in item && item.name === field ? (item.bits ?? []) : []));
  return `${field}.${bits.find((each) => each.mask === mask)?.name ?? hexText(mask)}`;
}

function hexText(value: number): string {
  return `0x${value.toString(16)}`;
}

const INTRODUCTION: readonly Block[] = [
  {
    is: 'text',
    text:
      'A shard is a directory of segments, their indexes and a few small files; a data root holds one directory for each ' +
      'shard. All integers are big-endian unless the type ends in `le`. Offsets are logical and count records; positions ' +
      'count bytes in a file. Of the checksums, `crc32` is CRC-32 (IEEE) and `crc32c` is Castagnoli. Versions 2, 3 and 4 ' +
      'of segments are known, and version 1 of the small files; anything else was written by another build.',
  },
  {
    is: 'text',
    text:
      'The format page of Felix is the source of truth. What stands here is made from the tables that `felix-fsck` ' +
      'decodes by. In the tables, `at` counts from the start of the layout, or of one element of a list.',
  },
];

const FILES: readonly string[] = [
  'ROOT/',
  '  storage-id              identity of this data directory',
  '  run-state               whether the last run stopped cleanly',
  '  registration            node incarnation of the last registration',
  '  node-id                 the id that offloaded keys start with',
  '  acme_default_orders_0-0d3aed4b998d2798/',
  '    00000000000000000000.log      segment',
  '    00000000000000000000.index    its sparse index',
  '    epochs                where each generation began',
  '    replica               accepted generation and commit offset',
  '    ballot                the leader that the generation was accepted from',
  '    producers             snapshot of the state of producers',
  '    offload.manifest      segments with a copy in the object store',
  '    keys.idx              key index of a cache shard',
  '  caches/ counters/ groups/ dead-letters/   more shards',
  '  .deleted/               directories waiting to be removed',
  '  .streams/               which incarnation of a stream is held',
];

const NAMES: readonly Block[] = [
  {
    is: 'text',
    text:
      'The name of a segment is its id in 20 digits, and not an offset: the first offset stands in the header. The name ' +
      'of a shard’s directory is tenant, namespace, stream and shard in a readable form that loses characters, then the ' +
      'FNV-1a hash of the exact key in 16 hex digits, then, for a stream with an incarnation, that in 16 hex digits.',
  },
];
