/**
 * What `locate` found: a few lines for people, and JSON ("felix-fsck.locate/1").
 */

import type { IndexUse, LocatedRecord, Location } from '../domain/location.js';
import { bytesOf, counted } from '../domain/wording.js';
import { microsText } from './instants.js';
import { type ToolIdentity, toJsonDocument, toJsonLine } from './json.js';
import { joined, type Page, pageOf } from './page.js';
import type { Style } from './style.js';
import { opposite, wrap } from './wrap.js';

const LOCATE_SCHEMA = 'felix-fsck.locate/1';

export function renderLocationJson(location: Location, tool: ToolIdentity): string {
  return toJsonDocument(locationJson(location, tool));
}

export function renderLocationLine(location: Location, tool: ToolIdentity): string {
  return toJsonLine({ type: 'location', ...locationJson(location, tool) });
}

function locationJson(location: Location, tool: ToolIdentity): object {
  const { asked, damage, index } = location;
  return {
    schema: LOCATE_SCHEMA,
    tool: { name: tool.name, version: tool.version },
    path: location.path,
    name: location.name,
    shard: location.shard,
    asked,
    state: location.state,
    message: location.message,
    records: location.records.map(recordJson),
    index:
      index === null
        ? null
        : {
            file: index.file,
            entry: index.entry === null ? null : entryJson(index.entry),
            refused: index.refused.map((entry) => ({ ...entryJson(entry), why: entry.why })),
            unusable: index.unusable,
            position: index.position,
            steppedOver: index.steppedOver,
          },
    before: location.before === null ? null : recordJson(location.before),
    after: location.after === null ? null : recordJson(location.after),
    damage:
      damage === null
        ? null
        : {
            kind: damage.kind,
            segment: damage.segment,
            file: damage.file,
            path: damage.path,
            position: damage.position,
            damagedRange: damage.damagedRange,
            lostOffsets: damage.lostOffsets,
            message: damage.message,
          },
    object: location.object,
    baseOffset: location.baseOffset,
    tailOffset: location.tailOffset,
    time: location.time,
    notes: location.notes,
    exitCode: location.exitCode,
  };
}

/** Positions in an index are u64 as they are claimed, and travel as text. */
function entryJson({ entry, offset, position }: NonNullable<IndexUse['entry']>): object {
  return { entry, offset, position };
}

function recordJson(record: LocatedRecord): object {
  const { segment, file, position, end, offset, timestampMicros, kind, batch, payloadBytes, checksum } = record;
  return {
    segment,
    file,
    position,
    end,
    offset,
    timestampMicros,
    kind,
    batch:
      batch === null
        ? null
        : { producer: batch.producer, sequence: batch.sequence, index: batch.index, length: batch.length },
    bytes: payloadBytes,
    checksum: `0x${checksum.toString(16).padStart(8, '0')}`,
  };
}

export function renderLocation(location: Location, style: Style): string {
  const page = pageOf(style);
  const { paint, width } = page;
  const head = opposite(page.show(location.shard), page.show(location.path), width, { rest: '  ' });
  const isBad = location.exitCode !== 0;
  const answer = wrap(page.show(location.message), width).map((line) =>
    isBad ? paint.error(line) : paint.strong(line),
  );
  const rows: [string, string][] = [];
  for (const record of location.records) rows.push(['record', recordText(record)]);
  if (location.index !== null) rows.push(...indexRows(location.index));
  if (location.before !== null) rows.push(['before', neighbourText(location.before)]);
  if (location.after !== null) rows.push(['after', neighbourText(location.after)]);
  if (location.damage !== null) rows.push(['damage', location.damage.message]);
  rows.push(['log', logText(location)]);
  for (const note of location.notes) rows.push(['note', note]);
  return joined([...head, ...answer, ...rows.flatMap(([name, text]) => rowLines(page, name, text))]);
}

const NAME_WIDTH = 8;

function rowLines(page: Page, name: string, text: string): string[] {
  const rest = ' '.repeat(2 + NAME_WIDTH);
  return wrap(page.show(text), page.width, { first: `  ${name.padEnd(NAME_WIDTH)}`, rest });
}

function recordText(record: LocatedRecord): string {
  const { file, position, end, timestampMicros, payloadBytes } = record;
  return (
    `${file} bytes ${position}..${end}, ${kindWords(record)}, ${bytesOf(payloadBytes)} of payload, ` +
    `${microsText(timestampMicros)}`
  );
}

function kindWords({ kind, batch }: LocatedRecord): string {
  if (batch === null) return kind;
  const { producer, sequence, index, length } = batch;
  return `${kind} (producer ${producer}, sequence ${sequence}, ${index + 1} of ${Math.max(1, length)})`;
}

function neighbourText({ offset, segment, position, timestampMicros }: LocatedRecord): string {
  return `offset ${offset}, segment ${segment} position ${position}, ${microsText(timestampMicros)}`;
}

function indexRows({ file, entry, refused, unusable, position, steppedOver }: IndexUse): [string, string][] {
  const rows: [string, string][] = refused.map((bad) => [
    'index',
    `entry ${bad.entry} (offset ${bad.offset}, position ${bad.position}) does not hold: ${bad.why}`,
  ]);
  const stepped = steppedOver === 0 ? 'nothing to step over' : `${bytesOf(steppedOver)} to step over`;
  const start =
    entry === null
      ? `the first record, position ${position}`
      : `entry ${entry.entry} (offset ${entry.offset}, position ${entry.position})`;
  const why = unusable === null ? '' : `; ${unusable}`;
  rows.push(['index', `${file === null ? '' : `${file}: `}${start}, ${stepped}${why}`]);
  return rows;
}

function logText({ baseOffset, tailOffset, time }: Location): string {
  const range = `offsets ${baseOffset ?? 'unknown'}..${tailOffset ?? 'unknown'}`;
  return time === null ? range : `${range}; ${counted(time.records, 'record')} read`;
}
