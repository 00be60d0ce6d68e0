/**
 * The facts of a data root: who owns it, how the broker left it, and what lies in it beside the shards.
 */

import type { RootReport } from '../domain/report.js';
import { counted } from '../domain/wording.js';
import type { Page } from './page.js';
import { wrap } from './wrap.js';

/** One fact a line; what a root does not have is named in one line. Empty when nothing at all is known of it. */
export function rootFactLines(root: Omit<RootReport, 'findings'>, page: Page): string[] {
  const known: readonly (readonly [name: string, text: string | null])[] = [
    ['storage id', root.storageId === null ? null : page.show(root.storageId)],
    ['run state', root.runState === null ? null : runStateText(root.runState, page)],
    ['registration', root.registration === null ? null : String(root.registration)],
    ['node id', root.nodeId === null ? null : page.show(root.nodeId)],
  ];
  const facts = [
    ...known.filter(([, text]) => text !== null).map(([name, text]) => `${capital(name)}: ${text}`),
    ...Object.entries(root.layouts).map(([file, layout]) => `Layout of ${page.show(file)}: ${page.show(layout)}`),
    ...root.streams.map(({ name, text }) => `Stream ${page.show(name)}: ${page.show(text)}`),
  ];
  if (root.deleted.length > 0)
    facts.push(`Deleted, not looked at: ${counted(root.deleted.length, 'entry', 'entries')}`);
  if (facts.length === 0) return [];
  const missing = known.filter(([, text]) => text === null).map(([name]) => name);
  if (missing.length > 0) facts.push(`Not known: ${missing.join(', ')}`);
  return facts.flatMap((fact) => wrap(fact, page.width, { rest: '  ' }));
}

function capital(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

function runStateText(runState: NonNullable<RootReport['runState']>, page: Page): string {
  const early = runState.acknowledgesBeforeSync ? ', acknowledges before sync' : '';
  return `${page.show(runState.state)}${early}, storage id ${page.show(runState.id)}`;
}
