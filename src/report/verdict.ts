/**
 * What a broker would do on opening a shard, in a sentence or two.
 */

import { type FindingKind, SEVERITIES, type Site, worstSeverity } from '../domain/finding.js';
import {
  type BrokerSettings,
  DEFAULT_INDEX_SPACING,
  type PredictedRepair,
  type ShardReport,
} from '../domain/report.js';
import { counted, grouped } from '../domain/wording.js';
import { fileText, type Page, rangeText, siteText } from './page.js';
import { wrap } from './wrap.js';

const SHOWN_REASONS = 3;
const SHOWN_READS = 2;

/** `with default settings`, or the settings that are not the default. */
export function settingsText(settings: BrokerSettings): string {
  const named = [
    ...(settings.repairChecksumTail ? ['repair_checksum_tail'] : []),
    ...(settings.verifyAllOnOpen ? ['verify_all_on_open'] : []),
    ...(settings.indexSpacing === DEFAULT_INDEX_SPACING ? [] : [`an index spacing of ${settings.indexSpacing}`]),
  ];
  return named.length === 0 ? 'with default settings' : `with ${listed(named)}`;
}

/** `a, b and c`. */
export function listed(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
}

/** The verdict's sentence and what it rests on. */
export function renderVerdict(shard: ShardReport, settings: BrokerSettings, page: Page): string[] {
  const { prediction } = shard;
  const broker = `A broker ${settingsText(settings)}`;
  const lines: string[] = [];
  const say = (text: string) => lines.push(...wrap(text, page.width, { first: '  ', rest: '    ' }));
  if (prediction.verdict === 'refuses') {
    lines.push(...painted(`${broker} REFUSES to open this shard`, page, page.paint.fatal));
    const { refusals } = prediction;
    for (const { kind, site } of refusals.slice(0, SHOWN_REASONS)) say(reasonText(kind, site, shard, page));
    const more = refusals.length - SHOWN_REASONS;
    if (more > 0) say(`and ${counted(more, 'more reason')}, each enough by itself`);
  } else if (prediction.verdict === 'repairs') {
    const steps = prediction.repairs.map((repair) => repairText(repair, page));
    const intact = prediction.repairs.reduce((sum, repair) => sum + repair.intactRecordsLost, 0);
    const paint = intact > 0 ? page.paint.error : page.paint.warning;
    if (steps.length <= 2) {
      lines.push(...painted(`${broker} opens this shard after ${listed(steps)}`, page, paint));
    } else {
      lines.push(...painted(`${broker} opens this shard after ${counted(steps.length, 'repair')}:`, page, paint));
      for (const step of steps) say(step);
    }
    if (intact > 0)
      say(
        `${counted(intact, 'of these records is', 'of these records are')} intact, and would be lost: keep the broker stopped`,
      );
    if (prediction.tailOffsetAfter !== null) say(`The next offset is then ${prediction.tailOffsetAfter}.`);
  } else {
    lines.push(...painted(`${broker} opens this shard${opensHow(shard)}`, page, page.paint.good));
  }
  if (prediction.readsThatFail.length > 0) say(readsText(shard, page));
  for (const text of prediction.notJudged) say(`Not judged: ${page.show(text)}`);
  return lines;
}

/** `RecordChecksum in segment 1 at byte 86`; the file comes from the finding at that very place, when there is one. */
function reasonText(kind: FindingKind, site: Site, shard: ShardReport, page: Page): string {
  const same = shard.findings.find(
    (finding) =>
      finding.kind === kind && finding.site.segment === site.segment && finding.site.position === site.position,
  );
  const file = same === undefined ? null : fileText(page, same.file, site.segment);
  return `${kind} ${siteText(page, site, file)}`;
}

function painted(text: string, page: Page, paint: (text: string) => string): string[] {
  return wrap(text, page.width, { rest: '  ' }).map(paint);
}

/** Nothing that would have to be taken back by the findings below it. */
function opensHow(shard: ShardReport): string {
  if (shard.prediction.readsThatFail.length > 0) return ', but not every record can be read';
  const worst = worstSeverity(shard.findings);
  if (worst !== null && SEVERITIES.indexOf(worst) >= SEVERITIES.indexOf('warning')) return '';
  return shard.prediction.notJudged.length > 0 ? '' : ' with nothing to repair';
}

function repairText(repair: PredictedRepair, page: Page): string {
  const where = fileText(page, repair.file, undefined) ?? 'the shard';
  const bytes = counted(Math.max(0, repair.fromBytes - repair.toBytes), 'byte');
  const records = counted(repair.recordsLost, 'record');
  switch (repair.action) {
    case 'truncate':
      return `cutting ${bytes} (${records}) from ${where}`;
    case 'delete-segment':
      return `deleting ${where} (${bytes}, ${records})`;
    case 'delete-blank-first':
      return `deleting the blank ${where} (${bytes}, no record)`;
    case 'create-segment':
      return `beginning an empty log in a new ${where}`;
    case 'rebuild-index':
      return `rebuilding the ${where}`;
  }
}

function readsText(shard: ShardReport, page: Page): string {
  const reads = shard.prediction.readsThatFail;
  const shown = reads
    .slice(0, SHOWN_READS)
    .map(({ kind, site, fromOffset, toOffset }) => {
      const offsets = toOffset > fromOffset ? rangeText({ from: fromOffset, to: toOffset }) : `${fromOffset}`;
      return `${offsets} (${reasonText(kind, site, shard, page)})`;
    })
    .join(', ');
  const more = reads.length > SHOWN_READS ? ` and ${grouped(reads.length - SHOWN_READS)} more` : '';
  return `Reads fail that cross offsets ${shown}${more}`;
}
