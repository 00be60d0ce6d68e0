/** Rows of the catalogue: offload. */

import type { Catalogue } from './catalogue-row.js';
import { NEXT_STEPS } from './next-steps.js';
import { OFFLOAD_SENTENCES } from './sentences-relations.js';

export const OFFLOAD_ROWS = {
  ManifestOrder: {
    title: 'manifest order',
    severities: ['error'],
    severityRule: 'See the contract of findings.',
    sentence: OFFLOAD_SENTENCES.ManifestOrder,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.ManifestOrder,
  },
  ManifestOverlap: {
    title: 'manifest overlap',
    severities: ['error'],
    severityRule: 'See the contract of findings.',
    sentence: OFFLOAD_SENTENCES.ManifestOverlap,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.ManifestOverlap,
  },
  ManifestRange: {
    title: 'manifest range',
    severities: ['error'],
    severityRule: 'See the contract of findings.',
    sentence: OFFLOAD_SENTENCES.ManifestRange,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.ManifestRange,
  },
  ManifestKey: {
    title: 'manifest key',
    severities: ['warning'],
    severityRule: 'See the contract of findings.',
    sentence: OFFLOAD_SENTENCES.ManifestKey,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.ManifestKey,
  },
  ManifestLocal: {
    title: 'manifest local',
    severities: ['error'],
    severityRule: 'See the contract of findings.',
    sentence: OFFLOAD_SENTENCES.ManifestLocal,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.ManifestLocal,
  },
  ManifestBeyondTail: {
    title: 'manifest beyond tail',
    severities: ['error'],
    severityRule: 'See the contract of findings.',
    sentence: OFFLOAD_SENTENCES.ManifestBeyondTail,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.ManifestBeyondTail,
  },
  HistoryHole: {
    title: 'history hole',
    severities: ['info'],
    severityRule: 'See the contract of findings.',
    sentence: OFFLOAD_SENTENCES.HistoryHole,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.HistoryHole,
  },
  ObjectMissing: {
    title: 'object missing',
    severities: ['error'],
    severityRule: 'See the contract of findings.',
    sentence: OFFLOAD_SENTENCES.ObjectMissing,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.ObjectMissing,
  },
  ObjectMismatch: {
    title: 'object mismatch',
    severities: ['error'],
    severityRule: 'See the contract of findings.',
    sentence: OFFLOAD_SENTENCES.ObjectMismatch,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.ObjectMismatch,
  },
} satisfies Pick<
  Catalogue,
  | 'ManifestOrder'
  | 'ManifestOverlap'
  | 'ManifestRange'
  | 'ManifestKey'
  | 'ManifestLocal'
  | 'ManifestBeyondTail'
  | 'HistoryHole'
  | 'ObjectMissing'
  | 'ObjectMismatch'
>;
