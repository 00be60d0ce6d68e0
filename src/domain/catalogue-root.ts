/** Rows of the catalogue: root. */

import type { Catalogue } from './catalogue-row.js';
import { NEXT_STEPS } from './next-steps.js';
import { ROOT_SENTENCES } from './sentences-files.js';

export const ROOT_ROWS = {
  UncleanStop: {
    title: 'unclean stop',
    severities: ['warning', 'info'],
    severityRule: 'See the contract of findings.',
    sentence: ROOT_SENTENCES.UncleanStop,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.UncleanStop,
  },
  StorageIdMismatch: {
    title: 'storage id mismatch',
    severities: ['warning'],
    severityRule: 'See the contract of findings.',
    sentence: ROOT_SENTENCES.StorageIdMismatch,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.StorageIdMismatch,
  },
  DirectoryName: {
    title: 'directory name',
    severities: ['error'],
    severityRule: 'See the contract of findings.',
    sentence: ROOT_SENTENCES.DirectoryName,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.DirectoryName,
  },
  Unreadable: {
    title: 'unreadable',
    severities: ['error'],
    severityRule: 'See the contract of findings.',
    sentence: ROOT_SENTENCES.Unreadable,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.Unreadable,
  },
  ChangedWhileReading: {
    title: 'changed while reading',
    severities: ['info'],
    severityRule: 'See the contract of findings.',
    sentence: ROOT_SENTENCES.ChangedWhileReading,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.ChangedWhileReading,
  },
} satisfies Pick<
  Catalogue,
  'UncleanStop' | 'StorageIdMismatch' | 'DirectoryName' | 'Unreadable' | 'ChangedWhileReading'
>;
