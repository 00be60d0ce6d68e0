/** Rows of the catalogue: segments. */

import type { Catalogue } from './catalogue-row.js';
import { NEXT_STEPS } from './next-steps.js';
import { SEGMENT_SENTENCES } from './sentences-segments.js';

export const SEGMENT_ROWS = {
  SegmentMagic: {
    title: 'segment magic',
    severities: ['fatal'],
    severityRule: 'See the contract of findings.',
    sentence: SEGMENT_SENTENCES.SegmentMagic,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.SegmentMagic,
  },
  SegmentVersion: {
    title: 'segment version',
    severities: ['fatal'],
    severityRule: 'See the contract of findings.',
    sentence: SEGMENT_SENTENCES.SegmentVersion,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.SegmentVersion,
  },
  SegmentFlags: {
    title: 'segment flags',
    severities: ['fatal'],
    severityRule: 'See the contract of findings.',
    sentence: SEGMENT_SENTENCES.SegmentFlags,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.SegmentFlags,
  },
  SegmentHeaderChecksum: {
    title: 'segment header checksum',
    severities: ['fatal'],
    severityRule: 'See the contract of findings.',
    sentence: SEGMENT_SENTENCES.SegmentHeaderChecksum,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.SegmentHeaderChecksum,
  },
  ReservedNotZero: {
    title: 'reserved not zero',
    severities: ['warning'],
    severityRule: 'See the contract of findings.',
    sentence: SEGMENT_SENTENCES.ReservedNotZero,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.ReservedNotZero,
  },
  AbandonedSegment: {
    title: 'abandoned segment',
    severities: ['warning'],
    severityRule: 'See the contract of findings.',
    sentence: SEGMENT_SENTENCES.AbandonedSegment,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.AbandonedSegment,
  },
  BlankFirstSegment: {
    title: 'blank first segment',
    severities: ['warning'],
    severityRule: 'See the contract of findings.',
    sentence: SEGMENT_SENTENCES.BlankFirstSegment,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.BlankFirstSegment,
  },
  NoSegments: {
    title: 'no segments',
    severities: ['error'],
    severityRule: 'See the contract of findings.',
    sentence: SEGMENT_SENTENCES.NoSegments,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.NoSegments,
  },
  SegmentFileName: {
    title: 'segment file name',
    severities: ['fatal'],
    severityRule: 'See the contract of findings.',
    sentence: SEGMENT_SENTENCES.SegmentFileName,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.SegmentFileName,
  },
  StrayFile: {
    title: 'stray file',
    severities: ['info'],
    severityRule: 'See the contract of findings.',
    sentence: SEGMENT_SENTENCES.StrayFile,
    cause: 'Not described yet.',
    evidence: 'Not described yet.',
    broker: 'Not described yet.',
    remedies: [],
    section: null,
    next: NEXT_STEPS.StrayFile,
  },
} satisfies Pick<
  Catalogue,
  | 'SegmentMagic'
  | 'SegmentVersion'
  | 'SegmentFlags'
  | 'SegmentHeaderChecksum'
  | 'ReservedNotZero'
  | 'AbandonedSegment'
  | 'BlankFirstSegment'
  | 'NoSegments'
  | 'SegmentFileName'
  | 'StrayFile'
>;
