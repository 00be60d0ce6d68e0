import { COLOR, type CommandSpec, FORMAT } from './shared.js';

export const EXPLAIN: CommandSpec = {
  name: 'explain',
  args: '[question...]',
  summary: 'what a kind of finding, an exit code or a line of the broker’s log means, and the ways out',
  description:
    'Tells the cause, what the bytes usually look like, what a broker does under each setting, the ways out with what ' +
    'each of them loses, and the commands to run. The question is a kind of finding, an exit code, or text that names ' +
    'one, a line pasted from the log of a broker included: shard, segment and position are read out of it. With - the ' +
    'text is read from standard input; without a question all kinds and exit codes are listed.',
  options: [
    FORMAT,
    COLOR,
    { flags: '--shard <dir>', description: 'the directory of the shard, filled into the commands that are proposed' },
  ],
  examples: [
    { command: 'felix-fsck explain RecordHeaderChecksum', shows: 'everything that is known of a kind of finding' },
    { command: 'felix-fsck explain 22', shows: 'when an exit code is given, and what to do then' },
    {
      command:
        "felix-fsck explain --shard fixtures/zero-tail/acme_default_orders_0-0d3aed4b998d2798 'corruption detected: " +
        'record header checksum mismatch (expected 0x00000000, found 0xc2b6d0f5) (shard=acme/default/orders/0, ' +
        "segment=2, position=400)'",
      shows: 'a line of a broker’s log, with the commands for that very place',
    },
    { command: 'felix-fsck explain', shows: 'all kinds and exit codes' },
  ],
  words: async () => (await import('../../domain/explanation.js')).ANSWERED,
  load: () => import('../explain.js'),
};
