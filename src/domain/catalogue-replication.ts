/** Rows of the catalogue: replication. */

import type { Catalogue } from './catalogue-row.js';
import { NEXT_STEPS } from './next-steps.js';
import { REPLICATION_SENTENCES } from './sentences-relations.js';

export const REPLICATION_ROWS = {
  EpochOrder: {
    title: 'epoch order',
    severities: ['error'],
    severityRule: 'See the contract of findings.',
    sentence: REPLICATION_SENTENCES.EpochOrder,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.EpochOrder,
  },
  EpochBeyondTail: {
    title: 'epoch beyond tail',
    severities: ['error'],
    severityRule: 'See the contract of findings.',
    sentence: REPLICATION_SENTENCES.EpochBeyondTail,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.EpochBeyondTail,
  },
  EpochCount: {
    title: 'epoch count',
    severities: ['warning'],
    severityRule: 'See the contract of findings.',
    sentence: REPLICATION_SENTENCES.EpochCount,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.EpochCount,
  },
  EpochGenerationStart: {
    title: 'epoch generation start',
    severities: ['error'],
    severityRule: 'See the contract of findings.',
    sentence: REPLICATION_SENTENCES.EpochGenerationStart,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.EpochGenerationStart,
  },
  CommitBeyondTail: {
    title: 'commit beyond tail',
    severities: ['error'],
    severityRule: 'See the contract of findings.',
    sentence: REPLICATION_SENTENCES.CommitBeyondTail,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.CommitBeyondTail,
  },
  ReplicaBehindEpochs: {
    title: 'replica behind epochs',
    severities: ['error'],
    severityRule: 'See the contract of findings.',
    sentence: REPLICATION_SENTENCES.ReplicaBehindEpochs,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.ReplicaBehindEpochs,
  },
  BallotBehind: {
    title: 'ballot behind',
    severities: ['info'],
    severityRule: 'See the contract of findings.',
    sentence: REPLICATION_SENTENCES.BallotBehind,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.BallotBehind,
  },
  BallotAhead: {
    title: 'ballot ahead',
    severities: ['info'],
    severityRule: 'See the contract of findings.',
    sentence: REPLICATION_SENTENCES.BallotAhead,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.BallotAhead,
  },
  GenerationGivenUp: {
    title: 'generation given up',
    severities: ['info'],
    severityRule: 'See the contract of findings.',
    sentence: REPLICATION_SENTENCES.GenerationGivenUp,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.GenerationGivenUp,
  },
} satisfies Pick<
  Catalogue,
  | 'EpochOrder'
  | 'EpochBeyondTail'
  | 'EpochCount'
  | 'EpochGenerationStart'
  | 'CommitBeyondTail'
  | 'ReplicaBehindEpochs'
  | 'BallotBehind'
  | 'BallotAhead'
  | 'GenerationGivenUp'
>;
