/**
 * The manual page of all findings, from the catalogue.
 */

import { CATALOGUE_GROUPS } from '../domain/catalogue-groups.js';
import { rowOf } from '../domain/explanation.js';
import type { FindingKind } from '../domain/finding.js';
import type { Block, ManPage, Term } from './roff.js';

export function findingsPage(): ManPage {
  return {
    name: 'felix-fsck-findings',
    section: 7,
    purpose: 'what felix-fsck finds in the durable log of Felix, and what can be done',
    sections: [
      { title: 'Description', blocks: INTRODUCTION },
      { title: 'Severities', blocks: [{ is: 'terms', terms: SEVERITY_TERMS }] },
      ...CATALOGUE_GROUPS.map(({ title, kinds }) => ({ title, blocks: kinds.flatMap(kindBlocks) })),
      {
        title: 'See also',
        blocks: [
          {
            is: 'text',
            text: '`felix-fsck`(1), `felix-fsck-explain`(1), `felix-storage`(5), `felix-fsck-runbook`(7)',
          },
        ],
      },
    ],
  };
}

function kindBlocks(kind: FindingKind): Block[] {
  const row = rowOf(kind);
  const terms: Term[] = [
    { term: 'Severity', text: `${row.severities.join(', ')}. ${row.severityRule}` },
    { term: 'Cause', text: row.cause },
    { term: 'What the bytes look like', text: row.evidence },
    { term: 'What a broker does', text: row.broker },
    row.remedies.length === 0
      ? { term: 'Ways out', text: 'Nothing is to be done.' }
      : { term: 'Ways out', text: '', more: [{ is: 'terms', terms: remedyTerms(kind) }] },
    ...(row.section === null ? [] : [{ term: 'Format page', text: `Section “${row.section}”.` }]),
  ];
  return [
    { is: 'heading', text: kind },
    { is: 'text', text: `${row.title.charAt(0).toUpperCase()}${row.title.slice(1)}.` },
    { is: 'terms', terms },
  ];
}

function remedyTerms(kind: FindingKind): Term[] {
  return rowOf(kind).remedies.map(({ what, loses, command }, at) => ({
    term: `${at + 1}.`,
    text: `${what} Loses: ${loses}`,
    ...(command === null ? {} : { more: [{ is: 'lines' as const, lines: [command] }] }),
  }));
}

const INTRODUCTION: readonly Block[] = [
  {
    is: 'text',
    text:
      'Each kind of finding has a name that is stable and, where the broker has one for the same damage, is the broker’s ' +
      'own. `felix-fsck explain` KIND prints what stands here, with the paths of a shard filled in. In the commands, ' +
      'SHARD stands for the directory of the shard, REPLICA for the same shard from another broker, OBJECTS for a copy ' +
      'of the object store, and DIR, FILE and POSITION for the operator’s own.',
  },
];

const SEVERITY_TERMS: readonly Term[] = [
  {
    term: '`fatal`',
    text: 'It alone makes the broker refuse to open the shard under the given settings. Exit code 22.',
  },
  { term: '`error`', text: 'The shard opens, but data is lost, unreadable or contradicted. Exit code 21.' },
  { term: '`warning`', text: 'The broker will put it right, or works without it. Exit code 20.' },
  { term: '`info`', text: 'Worth knowing. Exit code 0, unless `--fail-on info` asks for more.' },
];
