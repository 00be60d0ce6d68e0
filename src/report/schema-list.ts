/**
 * The list of schemas for people.
 */

import { renderColumns } from './columns.js';
import { joined, pageOf } from './page.js';
import type { Style } from './style.js';
import { wrap } from './wrap.js';

export function renderSchemaList(
  list: readonly { readonly name: string; readonly of: string }[],
  style: Style,
): string {
  const page = pageOf(style);
  const columns = [
    { title: 'schema', align: 'left', leads: true },
    { title: 'describes', align: 'left' },
  ] as const;
  return joined([
    ...renderColumns(
      columns,
      list.map(({ name, of }) => [name, of]),
      { width: page.width, paintTitles: page.paint.faint },
    ),
    '',
    ...wrap('felix-fsck schema NAME prints one as JSON Schema, draft 2020-12.', page.width),
  ]);
}
