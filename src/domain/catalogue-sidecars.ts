/** Rows of the catalogue: sidecars. */

import type { Catalogue } from './catalogue-row.js';
import { NEXT_STEPS } from './next-steps.js';
import { SIDECAR_SENTENCES } from './sentences-files.js';

export const SIDECAR_ROWS = {
  SidecarMagic: {
    title: 'sidecar magic',
    severities: ['fatal', 'error', 'warning'],
    severityRule: 'See the contract of findings.',
    sentence: SIDECAR_SENTENCES.SidecarMagic,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.SidecarMagic,
  },
  SidecarVersion: {
    title: 'sidecar version',
    severities: ['fatal', 'error', 'warning'],
    severityRule: 'See the contract of findings.',
    sentence: SIDECAR_SENTENCES.SidecarVersion,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.SidecarVersion,
  },
  SidecarTruncated: {
    title: 'sidecar truncated',
    severities: ['fatal', 'error', 'warning'],
    severityRule: 'See the contract of findings.',
    sentence: SIDECAR_SENTENCES.SidecarTruncated,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.SidecarTruncated,
  },
  SidecarTrailingBytes: {
    title: 'sidecar trailing bytes',
    severities: ['fatal', 'error', 'warning'],
    severityRule: 'See the contract of findings.',
    sentence: SIDECAR_SENTENCES.SidecarTrailingBytes,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.SidecarTrailingBytes,
  },
  SidecarChecksum: {
    title: 'sidecar checksum',
    severities: ['fatal', 'error', 'warning'],
    severityRule: 'See the contract of findings.',
    sentence: SIDECAR_SENTENCES.SidecarChecksum,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.SidecarChecksum,
  },
  SidecarField: {
    title: 'sidecar field',
    severities: ['fatal', 'error', 'warning'],
    severityRule: 'See the contract of findings.',
    sentence: SIDECAR_SENTENCES.SidecarField,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.SidecarField,
  },
} satisfies Pick<
  Catalogue,
  'SidecarMagic' | 'SidecarVersion' | 'SidecarTruncated' | 'SidecarTrailingBytes' | 'SidecarChecksum' | 'SidecarField'
>;
