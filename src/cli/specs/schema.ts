import { COLOR, type CommandSpec, FORMAT } from './shared.js';

export const SCHEMA: CommandSpec = {
  name: 'schema',
  args: '[name]',
  summary: 'the JSON Schemas of all outputs',
  description:
    'Prints the schema of one output (JSON Schema, draft 2020-12), or the list of their names. Objects are open: fields ' +
    'may be added to an output under the same number, and a removed or changed field raises the number in its schema.',
  options: [FORMAT, COLOR],
  examples: [
    { command: 'felix-fsck schema', shows: 'the names' },
    { command: 'felix-fsck schema verify', shows: 'the schema of verify --format json' },
  ],
  words: async () => (await import('../schema-table.js')).SCHEMAS.map(({ name }) => name),
  load: () => import('../schema.js'),
};
