/**
 * The facts of a data root: who owns it, how the broker left it, and what lies in it beside the shards.
 */

import type { RootReport } from '../domain/report.js';
import { counted } from '../domain/wording.js';
import type { Page } from './page.js';
import { wrap } from './wrap.js';

export function rootFactLines(root: Omit<RootReport, 'findings'>, page: Page): string[] {
  const facts: string[] = [
    `Storage id: ${root.storageId === null ? 'none' : page.show(root.storageId)}`,
    `Run state: ${runStateText(root.runState, page)}`,
    `Registration: ${root.registration === null ? 'none' : root.registration}`,
    `Node id: ${root.nodeId === null ? 'none' : page.show(root.nodeId)}`,
    ...Object.entries(root.layouts).map(([file, layout]) => `Layout of ${page.show(file)}: ${page.show(layout)}`),
    ...root.streams.map(({ name, text }) => `Stream ${page.show(name)}: ${page.show(text)}`),
  ];
  if (root.deleted.length > 0)
    facts.push(`Deleted, not looked at: ${counted(root.deleted.length, 'entry', 'entries')}`);
  return facts.flatMap((fact) => wrap(fact, page.width, { rest: '  ' }));
}

function runStateText(runState: RootReport['runState'], page: Page): string {
  if (runState === null) return 'none';
  const early = runState.acknowledgesBeforeSync ? ', acknowledges before sync' : '';
  return `${page.show(runState.state)}${early}, storage id ${page.show(runState.id)}`;
}
