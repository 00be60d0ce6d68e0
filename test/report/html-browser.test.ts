import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { readIndexPositions, readNeighbourhood } from '../../src/check/neighbourhood.js';
import type { VerifyReport } from '../../src/domain/report.js';
import { U64_MAX } from '../../src/domain/units.js';
import { renderHtml, wantedBy } from '../../src/report/html.js';
import { runReportOf } from '../../src/report/worst-shards.js';
import { Chromium, installedChromium, type View } from '../builders/chromium.js';
import { ATTACK, checked, pageWith, rendered } from '../builders/pages.js';
import { DEFAULTS, segmentReport, shardReport, TOOL, verifyReport } from '../builders/reports.js';
import { PROJECT_ROOT, withTempDir } from '../builders/trees.js';

const PHONE = { width: 390, height: 844 };
const DESKTOP = { width: 1280, height: 900 };
const VIEWS: readonly View[] = [PHONE, DESKTOP].flatMap((size) => [
  { ...size, dark: false },
  { ...size, dark: true },
]);

/** The page that the command line writes. */
function wholePage(report: VerifyReport): string {
  const run = runReportOf(report);
  const { findings, segments } = wantedBy(run);
  return renderHtml(run, {
    tool: TOOL,
    settings: DEFAULTS,
    checkedAtMicros: 1_767_225_600_000_000n,
    hexdumps: new Map(
      findings.flatMap(({ finding, checkedBytes }) => {
        const view = readNeighbourhood(finding, checkedBytes);
        return view === null ? [] : [[finding, view] as const];
      }),
    ),
    indexPositions: new Map(
      segments.map(({ shard, segment }) => [segment, readIndexPositions(shard.path, segment)] as const),
    ),
  });
}

/** Tags, and what their attributes are called, in the order of the document. */
const SHAPE = `[...document.querySelectorAll('*')].map((e) => e.tagName + ' ' + e.getAttributeNames().join())`;

/** The least contrast of text against what is painted behind it, by the rule of WCAG 2. */
const LEAST_CONTRAST = `(() => {
  const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (e) => {
    for (let at = e; at; at = at.parentElement) {
      const c = rgb(getComputedStyle(at).backgroundColor);
      if (c.length < 4 || c[3] > 0) return c;
    }
    return [255, 255, 255];
  };
  let least = [99, ''];
  for (const e of document.querySelectorAll('main *, header *, footer *')) {
    if (e.closest('svg') || ![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())) continue;
    const [a, b] = [light(rgb(getComputedStyle(e).color)), light(behind(e))].sort((x, y) => y - x);
    const contrast = (a + 0.05) / (b + 0.05);
    if (contrast < least[0]) least = [contrast, e.outerHTML.slice(0, 80)];
  }
  return least;
})()`;

describe('the page in a browser', function () {
  this.timeout(60_000);
  const name = installedChromium();
  if (name === null) {
    it.skip('needs Chromium, and there is none here');
    return;
  }
  let browser: Chromium;
  before(async () => {
    browser = await Chromium.start(name);
  });
  after(() => browser.stop());

  const visiting = <T>(html: string, view: View, look: (visit: Awaited<ReturnType<Chromium['visit']>>) => Promise<T>) =>
    withTempDir(async (dir) => {
      const file = path.join(dir, 'report.html');
      writeFileSync(file, html);
      const visit = await browser.visit(file, view);
      expect(visit.requests).to.deep.equal([`file://${file}`]);
      expect(visit.complaints).to.deep.equal([]);
      return look(visit);
    });

  it('fits every fixture on a phone and on a desk, in light and in dark, and fetches nothing', async () => {
    const html = wholePage(await checked(path.join(PROJECT_ROOT, 'fixtures')));
    for (const view of VIEWS) {
      await visiting(html, view, async (visit) => {
        expect(await visit.evaluate('document.documentElement.scrollWidth')).to.equal(view.width);
        const [contrast, where] = await visit.evaluate<[number, string]>(LEAST_CONTRAST);
        expect(contrast, where).to.be.at.least(4.5);
      });
    }
  });

  it('fits the largest offsets and the longest names on a phone', async () => {
    const long = 'n'.repeat(255);
    const huge = shardReport({
      name: long,
      key: null,
      path: `/data/${long}`,
      baseOffset: U64_MAX - 8n,
      tailOffset: U64_MAX,
      segments: [segmentReport(U64_MAX, { baseOffset: U64_MAX - 8n, nextOffset: U64_MAX, bytes: 2 ** 53 - 1 })],
    });
    for (const html of [rendered(verifyReport([huge])), pageWith(ATTACK), pageWith(long)]) {
      await visiting(html, { ...PHONE, dark: false }, async (visit) => {
        expect(await visit.evaluate('document.documentElement.scrollWidth')).to.equal(PHONE.width);
      });
    }
  });

  it('a hostile name changes no element, runs nothing, and is read as text', async () => {
    const view = { ...DESKTOP, dark: false };
    const plain = await visiting(pageWith('plain'), view, ({ evaluate }) => evaluate<string[]>(SHAPE));
    await visiting(pageWith(ATTACK), view, async ({ evaluate }) => {
      expect(await evaluate<string[]>(SHAPE)).to.deep.equal(plain);
      expect(await evaluate('document.title')).to.equal('A broker refuses to open 1 of 2 shards');
      expect(await evaluate('document.scripts.length')).to.equal(0);
      expect(await evaluate('document.body.innerText')).to.include('<script>document.title=1</script>');
    });
  });

  it('draws damage wide enough to be seen, however small', async () => {
    const report = await checked(path.join(PROJECT_ROOT, 'fixtures/flipped-bit-in-payload'));
    for (const shard of report.shards) {
      const html = wholePage(
        verifyReport([{ ...shard, segments: shard.segments.map((s) => ({ ...s, bytes: 2 ** 40 })) }], 21),
      );
      await visiting(html, { ...PHONE, dark: false }, async ({ evaluate }) => {
        const widths = await evaluate<number[]>(
          `[...document.querySelectorAll('figure rect[fill="url(#p-damaged)"]')].map((e) => e.getBoundingClientRect().width + parseFloat(getComputedStyle(e).strokeWidth))`,
        );
        expect(widths.length).to.be.greaterThan(0);
        for (const width of widths) expect(width).to.be.at.least(2);
      });
    }
  });

  it('is walked through with the keyboard: first a way past the top, then links, folds and boxes that scroll', async () => {
    const html = wholePage(await checked(path.join(PROJECT_ROOT, 'fixtures/zero-tail')));
    await visiting(html, { ...DESKTOP, dark: false }, async ({ evaluate }) => {
      const focusable = 'a[href], summary, [tabindex="0"]';
      expect(await evaluate(`document.querySelector('${focusable}').textContent`)).to.equal('Skip to the report');
      const unnamed = `[...document.querySelectorAll('${focusable}')].filter((e) => !(e.ariaLabel || e.textContent.trim())).length`;
      expect(await evaluate(unnamed)).to.equal(0);
      const scrolling = `[...document.querySelectorAll('main *')].filter((e) => getComputedStyle(e).overflowX === 'auto' && e.tabIndex !== 0).length`;
      expect(await evaluate(scrolling)).to.equal(0);
      const levels = await evaluate<number[]>(
        `[...document.querySelectorAll('h1,h2,h3,h4')].map((e) => Number(e.tagName[1]))`,
      );
      expect(levels[0]).to.equal(1);
      levels.forEach((level, at) => {
        if (at > 0) expect(level).to.be.at.most(levels[at - 1]! + 1);
      });
    });
  });

  it('is printed with nothing folded away, on white', async () => {
    const html = wholePage(await checked(path.join(PROJECT_ROOT, 'fixtures/data-root-with-one-bad-shard')));
    const shown = `[...document.querySelectorAll('details:not([open]) > .inside')].map((e) => e.checkVisibility())`;
    const view = { ...DESKTOP, dark: false };
    const folded = await visiting(html, view, ({ evaluate }) => evaluate<boolean[]>(shown));
    expect(folded.length).to.be.greaterThan(3);
    expect(folded).not.to.include(true);
    await visiting(html, { ...view, dark: true, print: true }, async ({ evaluate }) => {
      expect(await evaluate<boolean[]>(shown)).not.to.include(false);
      expect(await evaluate('getComputedStyle(document.body).backgroundColor')).to.equal('rgb(255, 255, 255)');
    });
  });
});
