/**
 * Pages of reports, for the tests that read them as text and those that look at them in a browser.
 */

import { verifyPaths } from '../../src/check/verify.js';
import type { Finding } from '../../src/domain/finding.js';
import type { RootReport, ShardReport, VerifyReport } from '../../src/domain/report.js';
import type { HexView } from '../../src/report/hexdump.js';
import { type HtmlOptions, renderHtml } from '../../src/report/html.js';
import { runReportOf } from '../../src/report/worst-shards.js';
import { InlineScanner } from '../../src/scan/scanner.js';
import {
  DEFAULTS,
  finding,
  HOSTILE,
  prediction,
  rootReport,
  shardReport,
  summaryOf,
  TOOL,
  verifyReport,
} from './reports.js';

/** What a name would hold that wants to be markup. */
export const ATTACK = `"><script>document.title=1</script><img src=x onerror=alert(1)>' onload='x' {{7*7}} ${HOSTILE}`;

export function rendered(
  report: VerifyReport,
  hexdumps: ReadonlyMap<Finding, HexView> = new Map(),
  indexPositions: HtmlOptions['indexPositions'] = new Map(),
): string {
  return renderHtml(runReportOf(report), {
    tool: TOOL,
    settings: DEFAULTS,
    checkedAtMicros: 1_767_225_600_000_000n,
    hexdumps,
    indexPositions,
  });
}

/** Every text that a shard and its findings can carry is this one. */
function shardWith(text: string): ShardReport {
  const found = finding('SidecarField', 'fatal', {
    file: text,
    path: `/data/${text}`,
    message: text,
    looksLike: text,
    next: `felix-fsck ${text}`,
    damagedRange: { from: 4, to: 9 },
  });
  return shardReport({
    name: text,
    key: text,
    path: `/data/${text}`,
    incarnation: text,
    findings: [found],
    sidecars: [{ file: text, bytes: 1, state: 'sound', facts: { [text]: text } }],
    notChecked: [text],
    omitted: [{ file: text, kind: 'RecordChecksum', count: 3 }],
    prediction: prediction({
      verdict: 'refuses',
      refusals: [{ kind: 'SidecarField', site: { shard: text } }],
      notJudged: [text],
    }),
  });
}

/** A page in which every text from the data is this one. */
export function pageWith(text: string): string {
  const shard = shardWith(text);
  const root = rootReport({
    path: text,
    nodeId: text,
    streams: [{ name: text, text }],
    findings: [finding('Unreadable', 'error', { file: text, message: text })],
  });
  const view: HexView = {
    path: text,
    size: 64,
    base: 0,
    bytes: Uint8Array.from({ length: 64 }, (_, at) => at * 5),
    at: 4,
    damaged: [{ from: 4, to: 9 }],
    fields: [{ name: text, start: 0, end: 4, type: 'utf8', value: text, meaning: text, partial: false }],
    notes: [{ position: 8, text }],
  };
  const shards = [shard, shardReport({ name: text, key: null, path: `${text}/2` })];
  return rendered(verifyReport(shards, 22, { roots: [root] }), new Map([[shard.findings[0]!, view]]));
}

/** What a check says of everything below a directory. */
export async function checked(dir: string): Promise<VerifyReport> {
  const shards: ShardReport[] = [];
  const roots: RootReport[] = [];
  const { signal } = new AbortController();
  const options = {
    settings: DEFAULTS,
    quick: false,
    key: null,
    replicas: [],
    nowMicros: 1_800_000_000_000_000n,
    patienceMs: 0,
    includeDeleted: false,
    concurrency: 1,
    signal,
  };
  for await (const event of verifyPaths([dir], new InlineScanner(signal), options)) {
    if (event.is === 'shard') shards.push(event.report);
    else roots.push(event.report);
  }
  return verifyReport(shards, 22, { roots, summary: summaryOf(shards, 22) });
}
