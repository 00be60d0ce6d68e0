import { expect } from 'chai';
import type {
  FileInspection,
  InspectedFact,
  InspectedSegment,
  Inspection,
  RootInspection,
  ShardInspection,
} from '../../src/domain/inspection.js';
import { U64_MAX } from '../../src/domain/units.js';
import {
  renderInspections,
  renderInspectJson,
  renderInspectLine,
  renderInspectSummaryLine,
} from '../../src/report/inspect.js';
import { microsIso, microsText } from '../../src/report/instants.js';
import { displayWidth } from '../../src/report/wrap.js';
import { HOSTILE, RAW, rootReport, TOOL } from '../builders/reports.js';

function fact(name: string, value: InspectedFact['value'], unit: InspectedFact['unit'] = null): InspectedFact {
  return { name, value, unit, meaning: `what ${name} means` };
}

const FILE: FileInspection = {
  type: 'file',
  path: '/data/s/replica',
  identity: { kind: 'replica', description: 'a replica file of version 1' },
  size: 1234,
  state: 'sound',
  notVerified: [],
  facts: [
    fact('generation', U64_MAX),
    fact('created', 1_767_225_600_000_001n, 'microseconds'),
    fact('covered', 1_767_225_600_000n, 'milliseconds'),
    fact('length', 4096, 'bytes'),
    fact('records', 1n, 'records'),
    fact('entries', 2, 'entries'),
    fact('list', [1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n]),
    { ...fact('nested', [{ a: [], b: null, c: true, d: 0n, e: 7 }]), units: { d: 'microseconds', e: 'bytes' } },
  ],
  damage: [],
};

function segment(id: bigint): InspectedSegment {
  return {
    id,
    file: `${id}.log`,
    bytes: 434,
    version: 3,
    baseOffset: 8n * id,
    nextOffset: null,
    records: null,
    createdAtMicros: U64_MAX,
    firstTimestampMicros: 1_767_225_600_000_000n,
    lastTimestampMicros: null,
    verifiedFrom: null,
    index: { file: `${id}.index`, bytes: 20, entries: 1 },
  };
}

const SHARD: ShardInspection = {
  type: 'shard',
  path: '/data/acme_default_orders_0-0d3aed4b998d2798',
  name: 'acme_default_orders_0-0d3aed4b998d2798',
  key: 'acme/default/orders/0',
  incarnation: '0000000000000001',
  baseOffset: 0n,
  nextOffset: 21n,
  firstTimestampMicros: 1_767_225_600_000_000n,
  lastTimestampMicros: 1_767_225_605_000_000n,
  bytes: 1385,
  full: false,
  segments: [segment(0n), segment(1n)],
  sidecars: [{ file: 'epochs', bytes: 30, state: 'damaged', facts: [fact('entries', 2, 'entries')] }],
  strangers: [{ file: 'core', bytes: 9, description: 'zeros only' }],
  notVerified: ['segment 0 was not read.'],
  damage: [
    {
      kind: 'IndexMagic',
      severity: 'warning',
      file: '1.index',
      position: 0,
      message: 'The index begins with other bytes.',
    },
  ],
};

const { findings: _, ...OWN } = rootReport();
const ROOT: RootInspection = {
  type: 'root',
  ...OWN,
  shards: Array.from({ length: 100 }, (__, at) => ({
    path: `/data/s${at}`,
    name: `s${at}`,
    key: null,
    segments: 2,
    bytes: 1000,
    baseOffset: 0n,
    nextOffset: at === 0 ? null : 5n,
    lastTimestampMicros: null,
    damage: at === 1 ? 3 : 0,
  })),
  sidecars: [{ file: 'storage-id', bytes: 30, state: 'sound', facts: [] }],
  notVerified: [],
  damage: [],
};

function textOf(inspection: Inspection, width = 80, all = false): string {
  return renderInspections([inspection], { width, color: 0, unicode: true }, { all });
}

describe('report/inspect', () => {
  it('says of a file what it is and what it states, with units and times', () => {
    const text = textOf(FILE);
    expect(text.split('\n').slice(0, 3)).to.deep.equal([
      `/data/s/replica${' '.repeat(54)}1,234 bytes`,
      'This is a replica file of version 1: sound.',
      '',
    ]);
    const row = (name: string) => text.split('\n').find((line) => line.startsWith(`${name} `));
    expect(row('generation')).to.match(/ {2}18446744073709551615 - what generation means$/);
    expect(row('created')).to.include('2026-01-01T00:00:00.000001Z');
    expect(row('covered')).to.include('2026-01-01T00:00:00.000000Z');
    expect(row('length')).to.include('4,096 bytes');
    expect(row('records')).to.include('1 record ');
    expect(row('entries')).to.include('2 entries');
    expect(row('list')).to.include('1, 2, 3, 4, 5, 6, and 2 more');
    expect(text.replace(/\s+/g, ' ')).to.include('a none b none c true d 1970-01-01T00:00:00.000000Z e 7 bytes');
  });

  it('sets short values and their meanings in columns', () => {
    const text = textOf({ ...FILE, facts: [fact('commit', 5n), { ...fact('accepted', 17n), meaning: null }] });
    expect(text).to.include('field     value  meaning\ncommit    5      what commit means\naccepted  17\n');
  });

  it('says of a shard its offsets, times, segments and small files, and that not all was read', () => {
    const text = textOf(SHARD);
    expect(text).to.include('2 segments, 1,385 bytes, offsets 0..21\n');
    expect(text).to.include('Incarnation: 0000000000000001\n');
    expect(text).to.include('Records from 2026-01-01T00:00:00.000000Z to 2026-01-01T00:00:05.000000Z\n');
    expect(text).to.include('not every record (--full reads all)\n');
    expect(text).to.include('  WARNING IndexMagic in 1.index at byte 0: The index begins with other bytes.\n');
    expect(text).to.match(/^1 +3 +8\.\.\? +434 +1 {2}2026-01-01T00:00:00.000000Z$/m);
    expect(text).not.to.match(/version +offsets +records/);
    expect(text).to.match(/^epochs +damaged, 30 bytes$/m);
    expect(text).to.include('No reader opens core: zeros only, 9 bytes\n\nNot verified: segment 0 was not read.\n');
    const full = textOf({
      ...SHARD,
      full: true,
      segments: [{ ...segment(0n), records: 8, nextOffset: 8n, index: null }],
    });
    expect(full)
      .to.match(/^0 +3 +0\.\.8 +8 +434 +none /m)
      .and.not.to.include('--full');
  });

  it('lists the shards of a data root, folded past forty', () => {
    const text = textOf(ROOT);
    expect(text).to.include('Data root /data\n').and.to.include('100 shards, 200 segments, 100,000 bytes\n');
    expect(text).to.include('Registration: 18446744073709551615\n');
    expect(text).to.match(/^s0 +2 +1,000 +0\.\.\?$/m);
    expect(text).to.match(/^s1 +2 +1,000 +0\.\.5 +3$/m);
    expect(text.match(/^s\d/gm)).to.have.length(40);
    expect(text).to.include('and 60 more shards before the last (--all lists them)\n');
    expect(textOf(ROOT, 80, true).match(/^s\d/gm)).to.have.length(100);
  });

  it('folds long lists of damage', () => {
    const damage = Array.from({ length: 50 }, (__, at) => ({
      kind: 'IndexEntry' as const,
      severity: 'error' as const,
      file: null,
      position: at,
      message: 'm',
    }));
    expect(textOf({ ...FILE, damage })).to.include(
      '  ERROR IndexEntry at byte 9: m\n  and 40 more (--all lists them)\n',
    );
    expect(
      textOf({
        ...FILE,
        damage: [{ kind: 'SidecarMagic', severity: 'fatal', file: null, position: null, message: 'm' }],
      }),
    ).to.include('\n  FATAL SidecarMagic: m\n');
  });

  it('gives JSON and NDJSON with a schema, types, and u64 as text', () => {
    const parsed = JSON.parse(renderInspectJson([FILE, SHARD, ROOT], TOOL));
    expect(Object.keys(parsed)).to.deep.equal(['schema', 'tool', 'partial', 'inspected']);
    expect(parsed).to.deep.include({ schema: 'felix-fsck.inspect/1', tool: TOOL, partial: false });
    expect(parsed.inspected.map(({ type }: { type: string }) => type)).to.deep.equal(['file', 'shard', 'root']);
    expect(parsed.inspected[0].facts[0]).to.deep.equal({
      name: 'generation',
      value: '18446744073709551615',
      unit: null,
      meaning: 'what generation means',
    });
    expect(parsed.inspected[1].segments[1]).to.deep.include({ id: '1', baseOffset: '8', nextOffset: null, bytes: 434 });
    expect(JSON.parse(renderInspectLine(SHARD))).to.deep.equal(parsed.inspected[1]);
    expect(JSON.parse(renderInspectSummaryLine(3, TOOL, true))).to.deep.equal({
      type: 'summary',
      schema: 'felix-fsck.inspect/1',
      tool: TOOL,
      partial: true,
      inspected: 3,
    });
  });

  for (const width of [40, 60, 80, 120]) {
    it(`stays within ${width} columns whatever the names and values`, () => {
      const hostile: Inspection[] = [
        FILE,
        SHARD,
        ROOT,
        {
          ...FILE,
          path: HOSTILE,
          identity: { kind: 'text', description: HOSTILE },
          facts: [fact(HOSTILE, { [HOSTILE]: [HOSTILE] })],
        },
        {
          ...SHARD,
          key: null,
          name: HOSTILE,
          path: 'x'.repeat(300),
          baseOffset: null,
          nextOffset: null,
          sidecars: [{ file: HOSTILE, bytes: 0, state: 'unreadable', facts: [] }],
        },
        { ...ROOT, path: HOSTILE, shards: ROOT.shards.map((shard) => ({ ...shard, name: HOSTILE })) },
      ];
      for (const line of renderInspections(hostile, { width, color: 0, unicode: true }, { all: true }).split('\n')) {
        expect(displayWidth(line), line).to.be.at.most(width);
        expect(line).to.equal(line.trimEnd());
        expect(line).not.to.match(RAW);
      }
    });
  }
});

describe('report/instants', () => {
  it('gives UTC with microseconds', () => {
    expect(microsText(0n)).to.equal('1970-01-01T00:00:00.000000Z');
    expect(microsText(1_767_225_600_123_456n)).to.equal('2026-01-01T00:00:00.123456Z');
    expect(microsText(8_640_000_000_000_000_000n)).to.equal('+275760-09-13T00:00:00.000000Z');
  });

  it('gives a time beyond the calendar as its number', () => {
    expect(microsText(U64_MAX)).to.equal('18446744073709551615 microseconds');
    expect(microsText(-1n)).to.equal('-1 microseconds');
    expect(microsIso(U64_MAX)).to.equal(null);
  });
});
