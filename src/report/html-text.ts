/**
 * The sentences of the table report, for a page that wraps them itself: of any width, without colour.
 */

import type { BrokerSettings, ShardReport } from '../domain/report.js';
import { type Page, pageOf } from './page.js';
import { renderVerdict } from './verdict.js';

export const TEXT: Page = pageOf({ width: 1_000_000, color: 0, unicode: true });

/** The verdict's sentence, then what it rests on. */
export function verdictTexts(shard: ShardReport, settings: BrokerSettings): readonly [string, ...string[]] {
  const [lead = '', ...more] = renderVerdict(shard, settings, TEXT).map((line) => line.trim());
  return [lead, ...more];
}
