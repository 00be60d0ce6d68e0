import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { U64_MAX } from '../../src/domain/units.js';
import { LISTED_SHARDS, renderPrometheus } from '../../src/report/prometheus.js';
import { runReportOf } from '../../src/report/worst-shards.js';
import {
  finding,
  HOSTILE,
  prediction,
  rootReport,
  segmentReport,
  shardReport,
  summaryOf,
  TOOL,
  verifyReport,
  zeroTailShard,
} from '../builders/reports.js';

const OPTIONS = { tool: TOOL, checkedAtMicros: 1_767_225_600_500_000n };

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: string;
}

/** The text exposition format, read a character at a time; throws for anything that a scraper would refuse. */
function parsed(text: string): Sample[] {
  if (!text.endsWith('\n')) throw new Error('the last line has no newline');
  const samples: Sample[] = [];
  const described = new Set<string>();
  let typed = '';
  for (const line of text.slice(0, -1).split('\n')) {
    const comment = /^# (HELP|TYPE) ([a-z_]+) (.+)$/.exec(line);
    if (comment !== null) {
      const [, what, name = '', rest] = comment;
      if (what === 'TYPE' && rest !== 'gauge') throw new Error(`${name} is a ${rest}`);
      if (what === 'HELP' && described.has(name)) throw new Error(`${name} is described twice`);
      if (what === 'HELP') described.add(name);
      else typed = name;
      continue;
    }
    const sample = parsedSample(line);
    if (sample.name !== typed) throw new Error(`${sample.name} stands below ${typed}`);
    samples.push(sample);
  }
  const series = new Set(samples.map(({ name, labels }) => JSON.stringify([name, Object.entries(labels).sort()])));
  if (series.size !== samples.length) throw new Error('a series is there twice');
  return samples;
}

function parsedSample(line: string): Sample {
  const name = /^[a-zA-Z_:][a-zA-Z0-9_:]*/.exec(line)?.[0] ?? '';
  if (name === '') throw new Error(`no metric name: ${line}`);
  const labels: Record<string, string> = {};
  let at = name.length;
  if (line[at] === '{') {
    do {
      at += 1;
      const label = /^[a-zA-Z_][a-zA-Z0-9_]*(?==")/.exec(line.slice(at))?.[0];
      if (label === undefined || label in labels) throw new Error(`bad label at ${at}: ${line}`);
      at += label.length + 2;
      let value = '';
      for (; line[at] !== '"'; at++) {
        if (at >= line.length) throw new Error(`a label value without end: ${line}`);
        if (line[at] !== '\\') value += line[at];
        else {
          at += 1;
          const plain = { '\\': '\\', '"': '"', n: '\n' }[line[at] ?? ''];
          if (plain === undefined) throw new Error(`bad escape: ${line}`);
          value += plain;
        }
      }
      labels[label] = value;
      at += 1;
    } while (line[at] === ',');
    if (line[at] !== '}') throw new Error(`labels without end: ${line}`);
    at += 1;
  }
  const value = line.slice(at);
  if (!/^ [0-9]+(\.[0-9]+)?$/.test(value)) throw new Error(`bad value: ${line}`);
  return { name, labels, value: value.slice(1) };
}

const rendered = (...args: Parameters<typeof verifyReport>) =>
  parsed(renderPrometheus(runReportOf(verifyReport(...args)), OPTIONS));

function valuesOf(samples: readonly Sample[], name: string): Record<string, string> {
  return Object.fromEntries(
    samples
      .filter((sample) => sample.name === name)
      .map(({ labels: { shard, path, ...labels }, value }) => [Object.values(labels).join(' '), value]),
  );
}

const ODD_SHARD = shardReport({
  path: `/data/"quoted"\\back\nline${HOSTILE}`,
  name: HOSTILE,
  key: null,
  baseOffset: U64_MAX - 1n,
  tailOffset: U64_MAX,
});

describe('renderPrometheus', () => {
  it('says what a broker would do, what was read and what was found of each shard', () => {
    const samples = rendered([zeroTailShard()], 22);
    expect(valuesOf(samples, 'felix_fsck_shard_opens')).to.deep.equal({ '': '0' });
    expect(valuesOf(samples, 'felix_fsck_shard_verdict')).to.deep.equal({ opens: '0', repairs: '0', refuses: '1' });
    expect(valuesOf(samples, 'felix_fsck_shard_bytes')).to.deep.equal({
      verified: '1251',
      damaged: '4096',
      skipped: '0',
      unread: '0',
    });
    expect(valuesOf(samples, 'felix_fsck_shard_findings')).to.deep.equal({ 'fatal RecordHeaderChecksum': '1' });
    expect(valuesOf(samples, 'felix_fsck_shard_worst_severity')).to.deep.equal({ '': '4' });
    expect(valuesOf(samples, 'felix_fsck_shard_records')).to.deep.equal({ '': '21' });
    expect(valuesOf(samples, 'felix_fsck_shard_lost_offsets')).to.deep.equal({ '': '0' });
    expect(samples.find(({ name }) => name === 'felix_fsck_shard_opens')?.labels).to.deep.equal({
      shard: 'acme/default/orders/0',
      path: '/data/acme_default_orders_0-0d3aed4b998d2798',
    });
  });

  it('says when the run was, how it ended and what it covers', () => {
    const samples = rendered([shardReport(), zeroTailShard()], 22, { partial: true });
    const run = Object.fromEntries(
      samples.filter(({ labels }) => Object.keys(labels).length === 0).map((s) => [s.name, s.value]),
    );
    expect(run).to.include({
      felix_fsck_run_timestamp_seconds: '1767225600.5',
      felix_fsck_run_duration_seconds: '0.012',
      felix_fsck_run_exit_code: '22',
      felix_fsck_run_partial: '1',
    });
    expect(valuesOf(samples, 'felix_fsck_shards')).to.deep.equal({ opens: '1', repairs: '0', refuses: '1' });
  });

  it('counts each lost offset once, however many findings name it, and u64 values in full', () => {
    const lost = (from: bigint, to: bigint) => finding('RecordChecksum', 'error', { lostOffsets: { from, to } });
    const shard = shardReport({
      findings: [lost(5n, 9n), lost(0n, 3n), lost(7n, U64_MAX), lost(6n, 8n), lost(4n, 4n)],
    });
    const samples = rendered([{ ...shard, tailOffset: U64_MAX }]);
    // 0..3 and 5..2^64-1
    expect(valuesOf(samples, 'felix_fsck_shard_lost_offsets')).to.deep.equal({ '': '18446744073709551613' });
    expect(valuesOf(samples, 'felix_fsck_shard_tail_offset')).to.deep.equal({ '': '18446744073709551615' });
  });

  it('what is not known has no series', () => {
    const samples = rendered([shardReport({ baseOffset: null, tailOffset: null })]);
    expect(samples.map(({ name }) => name)).not.to.include.members(['felix_fsck_shard_tail_offset']);
    expect(samples.map(({ name }) => name)).not.to.include.members(['felix_fsck_shard_base_offset']);
  });

  it('a name with quotes, backslashes, newlines and control characters stays one readable label', () => {
    const text = renderPrometheus(runReportOf(verifyReport([ODD_SHARD])), OPTIONS);
    expect(text).not.to.match(/[^\P{C}\n]/u);
    const [opens] = parsed(text).filter(({ name }) => name === 'felix_fsck_shard_opens');
    expect(opens?.labels['path']).to.match(/^\/data\/"quoted"\\\\back\\x0aline\\x1b\[2J/);
  });

  it('two names that look alike, and one directory given twice, stay series of their own', () => {
    const shards = ['/data/a\nb', '/data/a\\x0ab', '/data/a\\\\x0ab', '/data/a', '/data/a'];
    const paths = rendered(shards.map((path) => shardReport({ path })))
      .filter(({ name }) => name === 'felix_fsck_shard_opens')
      .map(({ labels }) => labels['path']);
    expect(new Set(paths).size).to.equal(5);
  });

  it('past a thousand shards only the worst have series of their own, and the totals count them all', () => {
    const shards = Array.from({ length: LISTED_SHARDS + 5 }, (_, i) => shardReport({ path: `/data/${i}` }));
    const samples = rendered([...shards, { ...zeroTailShard(), path: '/data/worst' }]);
    const listed = samples.filter(({ name }) => name === 'felix_fsck_shard_opens');
    expect(listed).to.have.lengthOf(1000);
    expect(listed[0]?.labels['path']).to.equal('/data/worst');
    expect(valuesOf(samples, 'felix_fsck_shards_unlisted')).to.deep.equal({ '': '6' });
    expect(valuesOf(samples, 'felix_fsck_shards')).to.deep.equal({ opens: '1005', repairs: '0', refuses: '1' });
  });

  it('findings of one directory above shards are added up, whichever report holds them', () => {
    const unreadable = rootReport({ findings: [finding('Unreadable', 'error'), finding('UncleanStop', 'info')] });
    const samples = rendered([], 30, { roots: [unreadable, unreadable, rootReport({ path: '/other' })] });
    expect(valuesOf(samples, 'felix_fsck_root_findings')).to.deep.equal({
      'error Unreadable': '2',
      'info UncleanStop': '2',
    });
  });

  it('promtool finds nothing to say', function () {
    const shards = [ODD_SHARD, zeroTailShard(), shardReport({ segments: [segmentReport(U64_MAX)] })];
    const cut = prediction({
      verdict: 'repairs',
      repairs: [{ action: 'truncate', file: '0.log', fromBytes: 9, toBytes: 5, recordsLost: 3, intactRecordsLost: 2 }],
    });
    const report = verifyReport([...shards, shardReport({ path: '/b', prediction: cut })], 22, {
      roots: [rootReport({ findings: [finding('Unreadable', 'error')] })],
      summary: summaryOf(shards, 22),
    });
    const ran = spawnSync('promtool', ['check', 'metrics'], {
      input: renderPrometheus(runReportOf(report), OPTIONS),
      encoding: 'utf8',
    });
    if (ran.error !== undefined) {
      this.test!.title += ' (skipped: there is no promtool here)';
      this.skip();
    }
    expect({ code: ran.status, said: ran.stdout + ran.stderr }).to.deep.equal({ code: 0, said: '' });
  });
});
