/**
 * What `diff-epochs` says, for people and as JSON ("felix-fsck.diff-epochs/1").
 */

import type {
  CutVerdict,
  DifferingRecord,
  HistoryState,
  PairDiff,
  RecordComparison,
  ReplicaDiff,
  ReplicaSummary,
} from '../domain/replica-diff.js';
import { shellPath } from '../domain/shell-words.js';
import { bytesOf, counted, grouped, offsetsOf } from '../domain/wording.js';
import { type Column, renderColumns } from './columns.js';
import { renderTimeline } from './generation-timeline.js';
import { microsText } from './instants.js';
import { type ToolIdentity, toJsonDocument, toJsonLine } from './json.js';
import { joined, type Page, pageOf, rangeText } from './page.js';
import type { Style } from './style.js';
import { listed } from './verdict.js';
import { wrap, wrapCommand } from './wrap.js';

const REPLICA_DIFF_SCHEMA = 'felix-fsck.diff-epochs/1';

const TOLD_DAMAGE = 5;

export function renderReplicaDiffJson(diff: ReplicaDiff, tool: ToolIdentity): string {
  const { name, version } = tool;
  return toJsonDocument({ schema: REPLICA_DIFF_SCHEMA, tool: { name, version }, ...diff });
}

/** A line for each replica, pair and cut, then one of type `summary`. */
export function renderReplicaDiffLines(diff: ReplicaDiff, tool: ToolIdentity): string {
  const { replicas, pairs, cuts, ...rest } = diff;
  const { name, version } = tool;
  return [
    ...replicas.map((replica) => toJsonLine({ type: 'replica', ...replica })),
    ...pairs.map((pair) => toJsonLine({ type: 'pair', ...pair })),
    ...cuts.map((cut) => toJsonLine({ type: 'cut', ...cut })),
    toJsonLine({ type: 'summary', schema: REPLICA_DIFF_SCHEMA, tool: { name, version }, ...rest }),
  ].join('');
}

/** The timeline, the replicas, each pair, and who would cut what. */
export function renderReplicaDiff(diff: ReplicaDiff, style: Style): string {
  const page = pageOf(style);
  const { replicas, pairs, cuts } = diff;
  const lines = wrap(`${page.show(diff.shard)}: ${headline(diff)}`, page.width, { rest: '  ' }).map(
    diff.exitCode === 0 ? page.paint.good : page.paint.error,
  );
  const timeline = renderTimeline(replicas, interestOf(pairs), page);
  if (timeline.length > 0) lines.push('', ...timeline);
  lines.push('', ...replicaLines(replicas, page));
  for (const pair of pairs) lines.push('', ...pairLines(pair, page));
  if (cuts.length > 0) lines.push('', ...cutLines(diff, page));
  else lines.push('', ...wrap('No replica has a history to go by: nobody can tell who would cut what.', page.width));
  lines.push('', ...wrap(exitText(diff.exitCode), page.width, { rest: '  ' }));
  return joined(lines);
}

function interestOf(pairs: readonly PairDiff[]): bigint | null {
  const places = pairs
    .filter(({ relation }) => relation === 'diverged' || relation === 'forked')
    .flatMap(({ agreedTo, records }) => agreedTo ?? records.firstDifference?.offset ?? []);
  return places.reduce<bigint | null>((least, place) => (least === null || place < least ? place : least), null);
}

function headline({ pairs, replicas, exitCode }: ReplicaDiff): string {
  const those = (relation: PairDiff['relation']) =>
    pairs.filter((pair) => pair.relation === relation).map(({ a, b }) => `${a} and ${b}`);
  const [forked, diverged, apart] = [those('forked'), those('diverged'), those('not comparable')];
  const parts = [
    ...(forked.length > 0 ? [`one generation FORKED between ${forked.join(', ')}`] : []),
    ...(diverged.length > 0 ? [`${diverged.join(', ')} have DIVERGED`] : []),
    ...(apart.length > 0 ? [`${apart.join(', ')} cannot be compared`] : []),
  ];
  if (parts.length > 0) return parts.join('; ');
  const behind = [...new Set(pairs.flatMap((pair) => pair.behind ?? []))];
  const many = counted(replicas.length, 'replica');
  const far = exitCode === 0 ? '' : ', as far as could be told';
  return behind.length === 0
    ? `${many} with the same history${far}`
    : `${many} of one history${far}; ${listed(behind)} behind`;
}

const REPLICA_COLUMNS: readonly Column[] = [
  { title: 'replica', align: 'left', leads: true },
  { title: 'offsets', align: 'left' },
  { title: 'records', align: 'right' },
  { title: 'newest generation', align: 'left' },
  { title: 'accepted', align: 'left' },
  { title: 'commit', align: 'left' },
  { title: 'ballot', align: 'left' },
];

function replicaLines(replicas: readonly ReplicaSummary[], page: Page): string[] {
  const rows = replicas.map((replica) => [
    replica.name,
    `${replica.base ?? '?'}..${replica.tail ?? '?'}`,
    grouped(replica.records),
    newestText(replica),
    valueText(replica.accepted.state, replica.accepted.generation),
    valueText(replica.accepted.state, replica.accepted.commit),
    ballotText(replica, page),
  ]);
  const lines = renderColumns(REPLICA_COLUMNS, rows, { width: page.width, paintTitles: page.paint.faint });
  for (const { name, path } of replicas)
    lines.push(...wrap(`${name} = ${page.show(path)}`, page.width, { rest: '    ' }));
  for (const { name, damage, damageCount } of replicas) {
    const shown = damage.slice(0, TOLD_DAMAGE);
    for (const { kind, file, position, lost } of shown) {
      const cost = lost === null ? '' : `, ${offsetsOf(lost)}`;
      const text = `${name}: ${kind} in ${page.show(file)} at byte ${position}${cost}; not compared`;
      lines.push(...wrap(text, page.width, { rest: '    ' }).map(page.paint.warning));
    }
    if (damageCount > shown.length)
      lines.push(...wrap(`${name}: and ${grouped(damageCount - shown.length)} more`, page.width));
  }
  return lines;
}

function newestText({ history }: ReplicaSummary): string {
  const newest = history.generations.at(-1);
  if (history.state !== 'sound') return history.state;
  return newest === undefined ? 'none' : `${newest.generation} from ${newest.start}`;
}

function valueText(state: HistoryState, value: bigint | null): string {
  return state === 'sound' && value !== null ? String(value) : state;
}

function ballotText({ ballot }: ReplicaSummary, page: Page): string {
  const { state, generation, leader } = ballot;
  if (state !== 'sound') return state;
  return `${generation} ${leader === '' ? 'given up' : page.show(leader ?? '')}`;
}

const RELATION_WORDS: Readonly<Record<PairDiff['relation'], string>> = {
  identical: 'the same records',
  behind: 'the same as far as the shorter one goes',
  diverged: 'DIVERGED',
  forked: 'FORKED within a generation',
  'not comparable': 'not comparable',
};

function pairLines(pair: PairDiff, page: Page): string[] {
  const apart = pair.relation === 'diverged' || pair.relation === 'forked';
  const title = wrap(`${pair.a} and ${pair.b}: ${RELATION_WORDS[pair.relation]}`, page.width, { rest: '  ' });
  const texts = [...historyTexts(pair), ...recordTexts(pair), ...pair.notes.map(page.show)];
  return [
    ...title.map(apart ? page.paint.error : page.paint.strong),
    ...texts.flatMap((text) => wrap(text, page.width, { first: '  ', rest: '    ' })),
  ];
}

function historyTexts({ a, b, shared, agreedTo }: PairDiff): string[] {
  if (shared === null) return [];
  const ends = `it ends at ${shared.a.end ?? '?'} on ${a} and at ${shared.b.end ?? '?'} on ${b}`;
  const agreed = agreedTo === null ? '' : `: known to agree up to ${agreedTo}`;
  return [`Newest generation of both: ${shared.generation}; ${ends}${agreed}.`];
}

function recordTexts({ a, b, records }: PairDiff): string[] {
  const { compared, differing, identical, firstDifference } = records;
  if (compared === 0) return ['No offset that both hold.'];
  const texts = [identicalText(records)];
  if (firstDifference !== null && identical !== null) {
    const { offset, what, payloadByte } = firstDifference;
    const where = payloadByte === null ? '' : ` (from its byte ${payloadByte} on)`;
    const parts =
      what.length === 0 ? 'checksums' : what.map((each) => (each === 'payload' ? each + where : each)).join(', ');
    texts.push(
      `First difference: offset ${offset}, in ${parts}; ${grouped(differing)} of ${counted(compared, 'record')} differ.`,
      `${a}: ${recordText(firstDifference.a)}`,
      `${b}: ${recordText(firstDifference.b)}`,
    );
  }
  return texts;
}

function identicalText({ identical, firstDifference }: RecordComparison): string {
  if (identical === null || identical.to <= identical.from) return 'Records: not one is the same from the first on.';
  const what = firstDifference === null ? 'every record that both hold is' : 'records are';
  return `Records: ${what} identical by header and checksum, offsets ${rangeText(identical)}.`;
}

function recordText({ kind, payloadBytes, timestampMicros, checksum, file, position }: DifferingRecord): string {
  return `${kind}, ${bytesOf(payloadBytes)} of payload, ${microsText(timestampMicros)}, checksum ${checksum}, ${file} at byte ${position}`;
}

/** No plan makes these cuts: the broker does. What it would take is better looked at while it is there. */
function lookLines({ replicas, cuts }: ReplicaDiff, page: Page): string[] {
  const cutting = cuts.filter(({ verdict }) => verdict === 'cut' || verdict === 'refused');
  if (cutting.length === 0) return [];
  const text =
    'This tool plans no such cut: it is the broker’s to make, or to refuse, once it follows. Look first at what would go:';
  return [
    ...wrap(text, page.width, { first: '  ', rest: '  ' }),
    ...cutting.flatMap(({ replica, cut }) => {
      const { path } = replicas.find(({ name }) => name === replica)!;
      const command = `felix-fsck dump-records --from ${cut!.from} ${shellPath(path)}`;
      return wrapCommand(page.show(command), page.width, { first: '  ', rest: '    ' });
    }),
  ];
}

function cutLines(diff: ReplicaDiff, page: Page): string[] {
  const { leader, cuts } = diff;
  const title = `To follow ${leader}, which holds the newest generation:`;
  return [
    ...wrap(title, page.width, { rest: '  ' }).map(page.paint.strong),
    ...cuts.flatMap((cut) => {
      const paint = cut.verdict === 'refused' ? page.paint.error : cut.verdict === 'cut' ? page.paint.warning : String;
      return [
        ...wrap(cutHead(cut), page.width, { first: '  ', rest: '    ' }).map(paint),
        ...wrap(page.show(cut.why), page.width, { first: '    ', rest: '    ' }),
      ];
    }),
    ...lookLines(diff, page),
  ];
}

function cutHead(cut: CutVerdict): string {
  const { replica, verdict, generations } = cut;
  switch (verdict) {
    case 'nothing':
      return `${replica} cuts nothing.`;
    case 'undecided':
      return `${replica}: not decided by the rules.`;
    default: {
      const times =
        cut.firstTimestampMicros === null || cut.lastTimestampMicros === null
          ? ''
          : `, ${microsText(cut.firstTimestampMicros)} to ${microsText(cut.lastTimestampMicros)}`;
      const dropped =
        generations.length === 0 ? '' : `, and ${counted(generations.length, 'generation')} of its history`;
      const what = `${offsetsOf(cut.cut!)} (${counted(cut.records, 'intact record')}, ${bytesOf(cut.bytes)}${times})${dropped}`;
      return verdict === 'cut' ? `${replica} would cut ${what}.` : `${replica} REFUSES to cut ${what}.`;
    }
  }
}

function exitText(code: number): string {
  switch (code) {
    case 0:
      return 'Exit 0: the same history';
    case 20:
      return 'Exit 20: the same records, but a generation history is damaged; felix-fsck verify tells more';
    case 30:
      return 'Exit 30: something could not be read, and what could be compared is the same';
    default:
      return `Exit ${code}: the histories are not the same, or damage stands against telling`;
  }
}
