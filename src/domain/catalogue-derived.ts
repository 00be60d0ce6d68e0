/** Rows of the catalogue: derived. */

import type { Catalogue } from './catalogue-row.js';
import { NEXT_STEPS } from './next-steps.js';
import { DERIVED_SENTENCES } from './sentences-relations.js';

export const DERIVED_ROWS = {
  ProducersStale: {
    title: 'producers stale',
    severities: ['warning'],
    severityRule: 'See the contract of findings.',
    sentence: DERIVED_SENTENCES.ProducersStale,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.ProducersStale,
  },
  ProducersMismatch: {
    title: 'producers mismatch',
    severities: ['error'],
    severityRule: 'See the contract of findings.',
    sentence: DERIVED_SENTENCES.ProducersMismatch,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.ProducersMismatch,
  },
  KeysStale: {
    title: 'keys stale',
    severities: ['warning'],
    severityRule: 'See the contract of findings.',
    sentence: DERIVED_SENTENCES.KeysStale,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.KeysStale,
  },
  KeysEntry: {
    title: 'keys entry',
    severities: ['warning'],
    severityRule: 'See the contract of findings.',
    sentence: DERIVED_SENTENCES.KeysEntry,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.KeysEntry,
  },
  KeysLastChecksum: {
    title: 'keys last checksum',
    severities: ['warning'],
    severityRule: 'See the contract of findings.',
    sentence: DERIVED_SENTENCES.KeysLastChecksum,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.KeysLastChecksum,
  },
} satisfies Pick<Catalogue, 'ProducersStale' | 'ProducersMismatch' | 'KeysStale' | 'KeysEntry' | 'KeysLastChecksum'>;
