/**
 * The receipt of a repair for people: what was done, and how to take it back.
 */

import type { FileState, PlanPrediction } from '../domain/plan.js';
import { counted, grouped } from '../domain/wording.js';
import { type Column, renderColumns } from './columns.js';
import { joined, type Page, pageOf } from './page.js';
import type { Style } from './style.js';
import { wrap, wrapCommand } from './wrap.js';

/** The parts of a receipt that are shown. */
export interface ShownReceipt {
  readonly command: string;
  readonly shard: { readonly name: string; readonly key: string | null };
  readonly who: { readonly uid: number; readonly user: string | null; readonly host: string };
  readonly startedAt: string;
  readonly finishedAt: string;
  readonly files: readonly {
    readonly file: string;
    readonly action: string;
    readonly before: FileState | null;
    readonly after: FileState | null;
  }[];
  readonly after: PlanPrediction;
  readonly asPlanned: boolean;
}

const COLUMNS: readonly Column[] = [
  { title: 'file', align: 'left', leads: true },
  { title: 'action', align: 'left' },
  { title: 'before', align: 'right' },
  { title: 'crc-32', align: 'left' },
  { title: 'after', align: 'right' },
  { title: 'crc-32', align: 'left' },
];

/** `undo` is the command that takes it back. */
export function renderReceipt(receipt: ShownReceipt, style: Style, undo: string): string {
  const page = pageOf(style);
  const { who, files, after } = receipt;
  const user = who.user === null ? `user ${who.uid}` : `${page.show(who.user)} (${who.uid})`;
  const shard = page.show(receipt.shard.key ?? receipt.shard.name);
  const rows = files.map(({ file, action, before, after: then }) => [
    page.show(file),
    action,
    ...stateCells(before, 'none'),
    ...stateCells(then, 'gone'),
  ]);
  return joined([
    '',
    ...wrap(
      `Done: ${page.show(receipt.command)} changed ${counted(files.length, 'file')} of ${shard}.`,
      page.width,
    ).map(page.paint.strong),
    ...renderColumns(COLUMNS, rows, { width: page.width, paintTitles: page.paint.faint }),
    ...wrap(`By ${user} on ${page.show(who.host)}, ${receipt.startedAt} to ${receipt.finishedAt}.`, page.width),
    ...checkedLines(after, receipt.asPlanned, page),
    ...wrapCommand(page.show(undo), page.width, { first: 'To take it back: ', rest: '  ' }),
    ...wrap(
      'Old bytes, plan and receipt are in that journal; keep it until the shard has been in service for a while.',
      page.width,
      { rest: '  ' },
    ),
  ]);
}

function stateCells(state: FileState | null, absent: string): [string, string] {
  return state === null ? [absent, ''] : [grouped(state.size), state.crc32];
}

function checkedLines({ verdict, tailOffset }: PlanPrediction, asPlanned: boolean, page: Page): string[] {
  const what = { opens: 'opens this shard', repairs: 'opens this shard after repairs', refuses: 'REFUSES to open it' };
  const tail = tailOffset === null ? '' : `, next offset ${tailOffset}`;
  const planned = asPlanned ? 'as planned' : 'NOT as planned';
  const paint = asPlanned ? page.paint.good : page.paint.fatal;
  return wrap(`Checked again: a broker ${what[verdict]}${tail}, ${planned}.`, page.width, { rest: '  ' }).map(paint);
}
