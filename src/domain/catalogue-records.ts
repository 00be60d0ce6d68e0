/** Rows of the catalogue: records. */

import type { Catalogue } from './catalogue-row.js';
import { NEXT_STEPS } from './next-steps.js';
import { RECORD_SENTENCES } from './sentences-records.js';

export const RECORD_ROWS = {
  Truncated: {
    title: 'truncated',
    severities: ['fatal', 'error', 'warning'],
    severityRule: 'See the contract of findings.',
    sentence: RECORD_SENTENCES.Truncated,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.Truncated,
  },
  RecordHeaderChecksum: {
    title: 'record header checksum',
    severities: ['fatal', 'error', 'warning'],
    severityRule: 'See the contract of findings.',
    sentence: RECORD_SENTENCES.RecordHeaderChecksum,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.RecordHeaderChecksum,
  },
  RecordChecksum: {
    title: 'record checksum',
    severities: ['fatal', 'error', 'warning'],
    severityRule: 'See the contract of findings.',
    sentence: RECORD_SENTENCES.RecordChecksum,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.RecordChecksum,
  },
  RecordFlags: {
    title: 'record flags',
    severities: ['fatal', 'error'],
    severityRule: 'See the contract of findings.',
    sentence: RECORD_SENTENCES.RecordFlags,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.RecordFlags,
  },
  RecordTooLarge: {
    title: 'record too large',
    severities: ['fatal', 'error', 'warning'],
    severityRule: 'See the contract of findings.',
    sentence: RECORD_SENTENCES.RecordTooLarge,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.RecordTooLarge,
  },
  OffsetOutOfOrder: {
    title: 'offset out of order',
    severities: ['fatal', 'error', 'warning'],
    severityRule: 'See the contract of findings.',
    sentence: RECORD_SENTENCES.OffsetOutOfOrder,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.OffsetOutOfOrder,
  },
  RecordKindForVersion: {
    title: 'record kind for version',
    severities: ['error'],
    severityRule: 'See the contract of findings.',
    sentence: RECORD_SENTENCES.RecordKindForVersion,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.RecordKindForVersion,
  },
  GenerationStartPayload: {
    title: 'generation start payload',
    severities: ['error'],
    severityRule: 'See the contract of findings.',
    sentence: RECORD_SENTENCES.GenerationStartPayload,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.GenerationStartPayload,
  },
  GenerationStartOrder: {
    title: 'generation start order',
    severities: ['error'],
    severityRule: 'See the contract of findings.',
    sentence: RECORD_SENTENCES.GenerationStartOrder,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.GenerationStartOrder,
  },
  BatchAbandoned: {
    title: 'batch abandoned',
    severities: ['info'],
    severityRule: 'See the contract of findings.',
    sentence: RECORD_SENTENCES.BatchAbandoned,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.BatchAbandoned,
  },
  BatchIncomplete: {
    title: 'batch incomplete',
    severities: ['info'],
    severityRule: 'See the contract of findings.',
    sentence: RECORD_SENTENCES.BatchIncomplete,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.BatchIncomplete,
  },
  BatchOrphan: {
    title: 'batch orphan',
    severities: ['info'],
    severityRule: 'See the contract of findings.',
    sentence: RECORD_SENTENCES.BatchOrphan,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.BatchOrphan,
  },
  TimestampOddity: {
    title: 'timestamp oddity',
    severities: ['info'],
    severityRule: 'See the contract of findings.',
    sentence: RECORD_SENTENCES.TimestampOddity,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.TimestampOddity,
  },
} satisfies Pick<
  Catalogue,
  | 'Truncated'
  | 'RecordHeaderChecksum'
  | 'RecordChecksum'
  | 'RecordFlags'
  | 'RecordTooLarge'
  | 'OffsetOutOfOrder'
  | 'RecordKindForVersion'
  | 'GenerationStartPayload'
  | 'GenerationStartOrder'
  | 'BatchAbandoned'
  | 'BatchIncomplete'
  | 'BatchOrphan'
  | 'TimestampOddity'
>;
