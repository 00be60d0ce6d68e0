/**
 * A plan for people: what goes, what is done in which order, and what a broker does before and after.
 */

import type { Plan, PlanPrediction, PlanStep } from '../domain/plan.js';
import { shellPath } from '../domain/shell-words.js';
import { counted, grouped } from '../domain/wording.js';
import { type Column, renderColumns } from './columns.js';
import { microsText } from './instants.js';
import { joined, lostText, type Page, pageOf, rangeText } from './page.js';
import type { Style } from './style.js';
import { settingsText } from './verdict.js';
import { opposite, wrap, wrapCommand } from './wrap.js';

const COLUMNS: readonly Column[] = [
  { title: 'step', align: 'right', leads: true },
  { title: 'action', align: 'left' },
  { title: 'file', align: 'left' },
  { title: 'size', align: 'right' },
  { title: 'then', align: 'right' },
  { title: 'why', align: 'left' },
];

const NAMED_REFUSALS = 3;
const NAMED_ENTRIES = 5;

/** `how` are the commands that carry the plan out; none when that is under way. */
export function renderPlan(plan: Plan, style: Style, how: readonly string[]): string {
  const page = pageOf(style);
  const name = page.show(plan.shard.name);
  const title =
    plan.shard.key === null ? [name] : opposite(page.show(plan.shard.key), name, page.width, { rest: '  ' });
  const lines = title.map(page.paint.strong);
  if (plan.steps.length === 0) {
    lines.push(...wrap(`${page.show(plan.command)}: there is nothing to do.`, page.width));
    lines.push(...predictionLines('Now', plan.before, plan, page));
    if (plan.before.verdict === 'refuses') lines.push(...elsewhereLines(plan, page));
    return joined(lines);
  }
  const steps = counted(plan.steps.length, 'step');
  lines.push(...wrap(`${page.show(plan.command)} plans ${steps}; nothing has been changed.`, page.width), '');
  lines.push(...lossLines(plan, page), '', ...stepLines(plan, page), '');
  lines.push(...predictionLines('Now', plan.before, plan, page), ...predictionLines('Then', plan.after, plan, page));
  for (const note of plan.notes) lines.push(...wrap(`Note: ${page.show(note)}`, page.width, { rest: '  ' }));
  for (const [at, command] of how.entries()) {
    const first = at === 0 ? 'Next: ' : '      ';
    lines.push(...wrapCommand(page.show(command), page.width, { first, rest: '        ' }));
  }
  return joined(lines);
}

/** Nothing to do for this command is not yet a shard that opens. */
function elsewhereLines({ command, shard }: Plan, page: Page): string[] {
  return [
    ...wrap(`${page.show(command)} cannot help with that; this command tells what can:`, page.width),
    ...wrapCommand(page.show(`felix-fsck verify ${shellPath(shard.path)}`), page.width, { first: 'Next: ' }),
  ];
}

function stepLines(plan: Plan, page: Page): string[] {
  const rows = plan.steps.map((step, at) => [
    String(at + 1),
    step.action,
    page.show(step.file),
    step.before === null ? 'none' : grouped(step.before.size),
    step.after === null ? 'gone' : grouped(step.after.size),
    page.show(step.why + rangesText(step)),
  ]);
  return renderColumns(COLUMNS, rows, { width: page.width, paintTitles: page.paint.faint });
}

/** The bytes of a segment that go; of the other files, all are written anew. */
function rangesText({ action, ranges }: PlanStep): string {
  return action === 'cut' ? ` (bytes ${ranges.map(rangeText).join(', ')})` : '';
}

function lossLines({ loses, files }: Plan, page: Page): string[] {
  const { offsets, records, intactRecords, bytes, manifestEntries, epochs } = loses;
  const lines: string[] = [];
  const say = (text: string) => lines.push(...wrap(text, page.width, { rest: '      ' }));
  const extent = offsets === null ? 'no record' : lostText(offsets);
  const intact = records === 0 ? '' : `; ${grouped(intactRecords)} intact, ${committedText(files)}`;
  const logBytes = bytes === 0 ? '' : `; ${counted(bytes, 'byte')} of the log`;
  const paint = intactRecords > 0 ? page.paint.error : page.paint.good;
  lines.push(...wrap(`Lost: ${extent}${intact}${logBytes}.`, page.width, { rest: '      ' }).map(paint));
  if (loses.fromTimestampMicros !== null && loses.toTimestampMicros !== null) {
    say(`Published between ${microsText(loses.fromTimestampMicros)} and ${microsText(loses.toTimestampMicros)}.`);
  }
  for (const { segmentId, baseOffset, lastOffset, key } of manifestEntries.slice(0, NAMED_ENTRIES)) {
    say(`Manifest entry of segment ${segmentId}, offsets ${baseOffset}..${lastOffset + 1n}: ${page.show(key)}`);
  }
  const more = manifestEntries.length - NAMED_ENTRIES;
  if (more > 0) say(`and ${counted(more, 'more manifest entry', 'more manifest entries')}`);
  for (const { generation, startOffset } of epochs)
    say(`Generation ${generation}, which began at offset ${startOffset}.`);
  return lines;
}

/** Without a commit offset to hold them against, records may well have been acknowledged. */
function committedText(files: Plan['files']): string {
  const isKnown = files.some(({ file }) => file === 'replica');
  return isKnown ? 'none of them committed' : 'whether committed is not known (no replica file)';
}

function predictionLines(when: string, prediction: PlanPrediction, plan: Plan, page: Page): string[] {
  const settings = { ...plan.settings, repairChecksumTail: plan.settings.repairChecksumTail && when === 'Now' };
  const text = `${when}: a broker ${settingsText(settings)} ${predictionText(prediction)}.`;
  const paint = { opens: page.paint.good, repairs: page.paint.warning, refuses: page.paint.fatal }[prediction.verdict];
  return wrap(text, page.width, { rest: '  ' }).map(paint);
}

function predictionText({ verdict, refusals, repairs, tailOffset, failingReads }: PlanPrediction): string {
  if (verdict === 'refuses') {
    const named = refusals.slice(0, NAMED_REFUSALS).map(({ kind, segment, position }) => {
      const where = segment === null ? '' : ` in segment ${segment}`;
      return `${kind}${where}${position === null ? '' : ` at byte ${position}`}`;
    });
    const more = refusals.length - named.length;
    return `REFUSES to open this shard: ${named.join(', ')}${more > 0 ? ` and ${grouped(more)} more` : ''}`;
  }
  const tail = tailOffset === null ? '' : `; the next offset is then ${tailOffset}`;
  const reads = failingReads === 0 ? '' : `; ${counted(failingReads, 'place')} in sealed segments still cannot be read`;
  if (verdict === 'opens') return `opens this shard${tail}${reads}`;
  return `opens this shard after ${counted(repairs.length, 'repair')} of its own${tail}${reads}`;
}
