import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { readNeighbourhood } from '../../src/check/neighbourhood.js';
import type { ShardReport, VerifyReport } from '../../src/domain/report.js';
import { U64_MAX } from '../../src/domain/units.js';
import type { HexView } from '../../src/report/hexdump.js';
import { wantedBy } from '../../src/report/html.js';
import { STYLE, STYLE_HASH } from '../../src/report/html-style.js';
import { runReportOf } from '../../src/report/worst-shards.js';
import { ATTACK, checked, pageWith, rendered } from '../builders/pages.js';
import { finding, segmentReport, shardReport, verifyReport, zeroTailShard } from '../builders/reports.js';
import { attributesOf, tagsOf, textOf } from '../builders/tags.js';
import { PROJECT_ROOT } from '../builders/trees.js';

const page = (shards: readonly ShardReport[], code = 0, parts: Partial<VerifyReport> = {}) =>
  rendered(verifyReport(shards, code, parts));

/** The `x` and `width` of every piece in a pattern, in percent. */
function piecesOf(html: string, state: string): { x: number; width: number }[] {
  return attributesOf(html)
    .filter(({ tag, attributes }) => tag === 'rect' && attributes['fill'] === `url(#p-${state})`)
    .map(({ attributes }) => ({
      x: Number.parseFloat(attributes['x']!),
      width: Number.parseFloat(attributes['width']!),
    }))
    .filter(({ x, width }) => !(x === 4 && width === 92));
}

describe('renderHtml', () => {
  it('puts the verdict first, then what it rests on and the command to run next', () => {
    const text = textOf(page([zeroTailShard()], 22));
    const places = [
      'A broker with default settings REFUSES to open this shard',
      'RecordHeaderChecksum in segment 2 at byte 426',
      'No record is known to be lost',
      'felix-fsck repair-tail --allow zero-tail /data/acme_default_orders_0-0d3aed4b998d2798',
      'bytes 426..4522 (4,096): zeros, never written',
      '4,096 zero bytes after the last record: unwritten space, nothing follows.',
    ].map((part) => text.indexOf(part, text.indexOf('offline check of')));
    expect(places).to.deep.equal([...places].sort((a, b) => a - b));
    expect(places[0]).to.be.greaterThan(-1);
  });

  it('draws damage to scale', () => {
    const html = page([zeroTailShard()], 22);
    // 426 and 4096 of 4522 bytes.
    expect(piecesOf(html, 'zeros')).to.deep.equal([{ x: 9.421, width: 90.579 }]);
  });

  it('draws one byte in 16 GiB too, with an edge of its own, and once more magnified', () => {
    const bytes = 16 * 1024 ** 3;
    const from = bytes / 2;
    const damage = finding('RecordChecksum', 'error', {
      damagedRange: { from, to: from + 1 },
      detail: { expected: '0x00000000', found: '0x00000001', resumedAt: from + 1 },
      lostOffsets: { from: 9n, to: 10n },
    });
    const segment = segmentReport(1n, { bytes, verifiedBytes: bytes - 1, damagedBytes: 1 });
    const html = page([shardReport({ segments: [segment], findings: [damage] })], 21);
    const [small, large] = piecesOf(html, 'damaged');
    expect(small).to.deep.equal({ x: 50, width: 0 });
    // 48 bytes of context on each side of one byte.
    expect(large).to.deep.equal({ x: 49.485, width: 1.031 });
    const edges = attributesOf(html).filter(({ attributes }) => attributes['fill'] === 'url(#p-damaged)');
    for (const { attributes } of edges) expect(attributes['stroke-width']).to.equal('2');
  });

  it('tells apart what is torn, what was never written, what is damaged and what was not read', () => {
    const torn = finding('Truncated', 'warning', {
      damagedRange: { from: 400, to: 434 },
      detail: { needed: 60, available: 34, resumedAt: null },
    });
    const unread = segmentReport(2n, { verifiedBytes: 100, unreadBytes: 334 });
    const failed = finding('Unreadable', 'error', {
      file: unread.file,
      site: { segment: 2n, position: 100 },
      detail: { reason: 'i/o error', code: 'EIO' },
    });
    const hurt = segmentReport(1n, { verifiedBytes: 400, damagedBytes: 34 });
    const html = page([shardReport({ segments: [hurt, unread], findings: [torn, failed] })], 21);
    expect(piecesOf(html, 'torn')[0]).to.deep.equal({ x: 92.166, width: 7.834 });
    expect(piecesOf(html, 'unread')).to.deep.equal([{ x: 23.041, width: 76.959 }]);
    expect(piecesOf(html, 'damaged')).to.deep.equal([]);
  });

  it('of a quick look, what was passed over lies behind the header', () => {
    const passed = segmentReport(0n, { verifiedBytes: 134, unreadBytes: 300 });
    expect(piecesOf(page([shardReport({ segments: [passed] })]), 'unread')).to.deep.equal([
      { x: 7.373, width: 69.124 },
    ]);
  });

  it('says how much damage the report does not place, and draws none for it', () => {
    const segment = segmentReport(0n, { verifiedBytes: 34, damagedBytes: 400 });
    const html = page([shardReport({ segments: [segment] })], 21);
    expect(textOf(html)).to.include('400 bytes damaged in places that the report does not list');
    expect(piecesOf(html, 'damaged')).to.deep.equal([]);
  });

  it('marks where the index points, rightly and wrongly', () => {
    const segment = segmentReport(1n);
    const wrong = finding('IndexEntry', 'fatal', {
      file: segment.index!.file,
      detail: { entry: 1, offset: 9n, entryPosition: 217n, why: 'no record starts there', dropped: false },
    });
    const shard = shardReport({ segments: [segment], findings: [wrong] });
    const html = rendered(verifyReport([shard], 22), new Map(), new Map([[segment, [32, 434]]]));
    const ticks = attributesOf(html).filter(({ attributes }) => attributes['class'] === 's-ink tick');
    expect(ticks.map(({ attributes }) => attributes['x1'])).to.deep.equal(['7.373%', '100%']);
    const marks = attributesOf(html).filter(({ tag, attributes }) => tag === 'svg' && attributes['x'] !== undefined);
    expect(marks.map(({ attributes }) => attributes['x'])).to.include('50%');
  });

  it('draws generations, lost offsets and what the manifest says, up to the largest offset', () => {
    const half = (U64_MAX + 1n) / 2n;
    const shard = shardReport({
      baseOffset: 0n,
      tailOffset: U64_MAX,
      segments: [segmentReport(0n, { baseOffset: 0n, nextOffset: U64_MAX })],
      findings: [finding('RecordChecksum', 'error', { lostOffsets: { from: half, to: half + 1n } })],
      coverage: [
        { from: 0n, to: half, where: 'offloaded' },
        { from: half, to: U64_MAX, where: 'nowhere' },
      ],
      sidecars: [
        {
          file: 'epochs',
          bytes: 44,
          state: 'sound',
          facts: {
            count: 2,
            entries: [
              { generation: 7n, startOffset: 0n },
              { generation: U64_MAX, startOffset: half },
            ],
          },
        },
        { file: 'replica', bytes: 28, state: 'sound', facts: { generation: U64_MAX, commit: half } },
      ],
    });
    const html = page([shard], 21);
    expect(piecesOf(html, 'lost')).to.deep.equal([{ x: 50, width: 0 }]);
    expect(piecesOf(html, 'remote')).to.deep.equal([{ x: 0, width: 50 }]);
    expect(piecesOf(html, 'hole')).to.deep.equal([{ x: 50, width: 50 }]);
    const text = textOf(html);
    expect(text).to.include('18446744073709551615');
    expect(text).to.include(`commit offset (replica) ${half}`);
    expect(text).to.include(`generation ${U64_MAX} from offset ${half}`);
  });

  it('many shards: a table worst first, the troubled in full, the sound ones folded', () => {
    const sound = shardReport({ key: 'acme/default/sound/0' });
    const html = page([sound, zeroTailShard(), { ...sound }], 22);
    expect(textOf(html)).to.include('A broker refuses to open 1 of 3 shards');
    const rows = [...html.matchAll(/<th scope="row" class="name"><a href="#(s\d)">([^<]*)</g)].map(([, id, key]) => [
      id,
      key,
    ]);
    expect(rows).to.deep.equal([
      ['s1', 'acme/default/orders/0'],
      ['s2', 'acme/default/sound/0'],
      ['s3', 'acme/default/sound/0'],
    ]);
    expect(html).to.include('<section class="shard" id="s1"').and.to.include('<details class="shard" id="s2">');
  });

  it('an interrupted run says so in its title, and an unreadable store is not called sound', () => {
    expect(page([shardReport()], 130, { partial: true })).to.match(/<title>Interrupted: /);
    const unreadable = shardReport({ findings: [finding('Unreadable', 'error')] });
    expect(page([unreadable], 30)).to.match(/<title>[^<]*; something could not be read<\/title>/);
    expect(page([], 2)).to.match(/<title>No shard was checked<\/title>/);
  });

  it('no text from the data becomes markup, whatever it holds', () => {
    const attacked = pageWith(ATTACK);
    const plain = pageWith('plain');
    expect(tagsOf(attacked)).to.deep.equal(tagsOf(plain));
    expect(attacked).not.to.match(/[^\P{C}\n]/u);
    const names = (html: string) =>
      attributesOf(html).map(({ tag, attributes }) => `${tag} ${Object.keys(attributes)}`);
    expect(names(attacked)).to.deep.equal(names(plain));
    expect(textOf(attacked)).to.include('\\x1b[2J').and.to.include('<script>document.title=1</script>');
  });

  it('asks nothing of any network and runs nothing', () => {
    for (const html of [pageWith(ATTACK), pageWith('http://example.org/ //example.org')]) {
      for (const { tag, attributes } of attributesOf(html)) {
        expect(tag).not.to.be.oneOf([
          'script',
          'link',
          'img',
          'iframe',
          'object',
          'embed',
          'form',
          'base',
          'image',
          'use',
        ]);
        for (const [name, value] of Object.entries(attributes)) {
          expect(name).not.to.match(/^on|^style$|^src|^data$|^action$|^ping$/);
          if (name === 'href') expect(value).to.match(/^#[\w-]+$/);
          if (value.includes('url(')) expect(value).to.match(/^url\(#[\w-]+\)$/);
        }
      }
    }
    expect(STYLE).not.to.match(/url\(|@import|expression|http/);
  });

  it('its policy admits the style sheet by its hash, and nothing else', () => {
    const hash = `sha256-${createHash('sha256').update(STYLE).digest('base64')}`;
    expect(STYLE_HASH).to.equal(hash);
    const html = page([shardReport()]);
    const policies = attributesOf(html).filter(
      ({ attributes }) => attributes['http-equiv'] === 'Content-Security-Policy',
    );
    expect(policies.map(({ attributes }) => attributes['content'])).to.deep.equal([
      `default-src 'none'; style-src '${hash}'; base-uri 'none'; form-action 'none'`,
    ]);
    expect(html.indexOf('Content-Security-Policy')).to.be.lessThan(html.indexOf('<style>'));
    expect(html).to.include(`<style>${STYLE}</style>`);
  });

  it('every link and every label leads to a place of the page, and no id is there twice', () => {
    const pages = [pageWith(ATTACK), page([zeroTailShard(), zeroTailShard(), shardReport()], 22)];
    for (const html of pages) {
      const all = attributesOf(html);
      const ids = all.flatMap(({ attributes }) => (attributes['id'] === undefined ? [] : [attributes['id']]));
      expect(new Set(ids).size).to.equal(ids.length);
      for (const { attributes } of all) {
        const named = [attributes['href']?.slice(1), ...(attributes['aria-labelledby']?.split(' ') ?? [])];
        for (const id of named) if (id !== undefined) expect(ids).to.include(id);
      }
      for (const { tag, attributes } of all) {
        if (tag === 'svg')
          expect(attributes['role'] ?? attributes['aria-hidden'] ?? attributes['x']).not.to.equal(undefined);
      }
    }
  });

  it('stays of a size that can be mailed, says what is left out, and asks for no more bytes than it shows', () => {
    const findings = Array.from({ length: 1000 }, (_, i) =>
      finding('RecordChecksum', 'error', {
        damagedRange: { from: 40 + 2 * i, to: 41 + 2 * i },
        site: { segment: 1n, position: 40 + 2 * i },
        detail: { expected: '0x00000000', found: '0x00000001', resumedAt: null },
        lostOffsets: { from: BigInt(2 * i), to: BigInt(2 * i + 1) },
      }),
    );
    const segments = Array.from({ length: 300 }, (_, i) =>
      segmentReport(BigInt(i), { bytes: 10_000, verifiedBytes: 7000, damagedBytes: 3000 }),
    );
    const heavy = Array.from({ length: 120 }, (_, i) => shardReport({ path: `/data/${i}`, segments, findings }));
    const light = Array.from({ length: 2380 }, () => shardReport({ findings: findings.slice(0, 1) }));
    const shards = [...heavy, ...light];
    const report = verifyReport(shards, 21);
    const html = rendered(report);
    expect(html.length).to.be.lessThan(6 * 1024 * 1024);
    const text = textOf(html);
    expect(text).to.include('500 more shards left out');
    expect(text).to.include('2,400 more shards without a section here');
    expect(text).to.include('A broker opens all 2,500 shards; 2,500 of them have findings');
    const wanted = wantedBy(runReportOf(report));
    expect(wanted.findings).to.have.lengthOf(100);
    expect(wanted.segments.length).to.be.at.most(240);
  });

  it('shows the bytes around damage with their fields, and frames the damaged ones', () => {
    const shard = zeroTailShard();
    const view: HexView = {
      path: '/data/x',
      size: 4522,
      base: 416,
      bytes: Uint8Array.from([1, 2, 3, 4, 5, 6, 7, 8, 0x3c, 0x62, 0, 0, 0, 0, 0, 0]),
      at: 426,
      damaged: [{ from: 426, to: 4522 }],
      fields: [{ name: 'payload_len', start: 426, end: 430, type: 'u32', value: 0, meaning: 'length', partial: false }],
      notes: [{ position: 431, text: 'the damage goes on' }],
    };
    const html = rendered(verifyReport([shard], 22), new Map([[shard.findings[0]!, view]]));
    expect(html).to.include('>3c 62 <mark>00 00 00 00 00 00</mark></td>');
    expect(html).to.include('&lt;b......');
    expect(textOf(html)).to.include('! payload_len = 0').and.to.include('^ byte 431: the damage goes on');
    expect(textOf(html)).to.include('payloads included');
  });

  for (const name of readdirSync(path.join(PROJECT_ROOT, 'fixtures'), { withFileTypes: true })) {
    if (!name.isDirectory()) continue;
    it(`draws the fixture ${name.name}, with the bytes of each place`, async () => {
      const report = await checked(path.join(PROJECT_ROOT, 'fixtures', name.name));
      const run = runReportOf(report);
      const hexdumps = new Map(
        wantedBy(run).findings.flatMap(({ finding: found, checkedBytes }) => {
          const view = readNeighbourhood(found, checkedBytes);
          return view === null ? [] : [[found, view] as const];
        }),
      );
      const html = rendered(report, hexdumps);
      const text = textOf(html);
      for (const { key, findings } of report.shards) {
        expect(text).to.include(key!);
        for (const { kind } of findings) expect(text).to.include(kind);
      }
      const placed = report.shards.flatMap(({ findings }) =>
        findings.filter(({ site }) => site.position !== undefined),
      );
      expect(html.split('Bytes around').length - 1).to.equal(2 * placed.length);
    });
  }
});
