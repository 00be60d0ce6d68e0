import { COLOR, type CommandSpec, FORMAT } from './shared.js';

const REPLICAS = ['broker-a', 'broker-b', 'broker-c'].map(
  (broker) => `fixtures/diverged-replicas/${broker}/acme_default_orders_0-0d3aed4b998d2798`,
);

export const DIFF_EPOCHS: CommandSpec = {
  name: 'diff-epochs',
  args: '<shard> <replica...>',
  summary: 'replicas of a shard side by side: where they part, and who would have to cut what',
  description:
    'Compares the generation histories of two or more replicas of a shard, then their records: how far they agree, the ' +
    'first offset where they differ, what each would have to cut to follow the newest generation, and whether a broker ' +
    'would refuse that. Every record is read; segment boundaries may differ. Exit code 0 for one history, a replica that ' +
    'is behind among them, and 21 when they have diverged.',
  options: [FORMAT, COLOR],
  examples: [
    { command: `felix-fsck diff-epochs ${REPLICAS.join(' ')}`, shows: 'three replicas, one of which wrote on alone' },
    { command: `felix-fsck diff-epochs ${REPLICAS[1]} ${REPLICAS[2]}`, shows: 'one replica behind another' },
  ],
  load: () => import('../diff-epochs.js'),
};
