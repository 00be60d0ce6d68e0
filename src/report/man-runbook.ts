/**
 * The runbook: what an operator does in the situations that really come about, step by step.
 *
 * Every command in it is run by a test, against a fixture of the situation.
 */

import { AUDIT } from './man-audit.js';
import type { Block, ManPage } from './roff.js';

export interface Step {
  readonly text: string;
  /** To be typed, in order; each is a line of a shell. */
  readonly commands: readonly Command[];
}

export interface Command {
  readonly line: string;
  /** What it exits with on the fixture; 0 when left out. */
  readonly exit?: number;
}

export interface Procedure {
  readonly title: string;
  /** The folder under `fixtures/` in which the situation can be tried, and the variables that the commands use, below it. */
  readonly fixture: string;
  readonly variables: Readonly<Record<string, string>>;
  readonly when: string;
  readonly steps: readonly Step[];
}

const SHARD_NAME = 'acme_default_orders_0-0d3aed4b998d2798';

const REFUSES: Procedure = {
  title: 'A broker refuses to start',
  fixture: 'zero-tail',
  variables: { ROOT: '.', SHARD: SHARD_NAME },
  when:
    'The broker logs “corruption detected” and stops. Leave it stopped: no setting and no restart makes the data better, ' +
    'and `FELIX_DURABLE_REPAIR_CHECKSUM_TAIL` cuts without saying first what goes.',
  steps: [
    {
      text:
        'Look at the whole data root, since one bad shard is enough to stop a broker and others may be bad too. The exit ' +
        'code is 22 when a broker refuses at least one of them.',
      commands: [{ line: 'felix-fsck verify "$ROOT"', exit: 22 }],
    },
    {
      text: 'Read what the worst finding means and what each way out loses; a line of the broker’s log will do as well.',
      commands: [
        { line: 'felix-fsck explain RecordHeaderChecksum' },
        {
          line:
            'felix-fsck explain --shard "$SHARD" ' +
            "'corruption detected: record header checksum mismatch (shard=acme/default/orders/0, segment=2, position=400)'",
        },
      ],
    },
    {
      text:
        'Plan the command under Next of that finding. A plan changes nothing; it says which bytes would go, how many ' +
        'records with them, whether any of those is intact or committed, and what a broker will do afterwards. Exit code ' +
        '20 says that the plan has steps.',
      commands: [{ line: 'felix-fsck repair-tail --allow zero-tail --plan-out plan.json "$SHARD"', exit: 20 }],
    },
    {
      text:
        'Have a second person read it, then apply it. The bytes that are replaced go to a journal beside the shard first, ' +
        'and the shard is verified again at the end.',
      commands: [{ line: 'felix-fsck apply --yes plan.json' }],
    },
    {
      text: 'See for yourself, and start the broker. Keep the journal until the shard has been in service for a while.',
      commands: [{ line: 'felix-fsck verify "$ROOT"' }],
    },
  ],
};

const DISK_FULL: Procedure = {
  title: 'The disk filled',
  fixture: 'half-record-then-good-ones',
  variables: { ROOT: '.', SHARD: SHARD_NAME },
  when:
    'A write stopped half-way for want of space, space came back, and writes went on behind it. It looks like the torn ' +
    'tail of a crash, and a broker that opens such a shard cuts off the half record and every good one behind it. So ' +
    'verify before the broker starts, not after.',
  steps: [
    {
      text:
        'Make room first, on the volume and not in the shards: nothing in a data root is safe to delete by hand. Then ' +
        'verify. Exit code 21 with a `Truncated` finding of severity error says that intact records stand behind the damage.',
      commands: [{ line: 'felix-fsck verify "$ROOT"', exit: 21 }],
    },
    {
      text: 'See what stands behind the damage: the row of the damage is in its place among the records.',
      commands: [{ line: 'felix-fsck dump-records --tail 5 "$SHARD"', exit: 21 }],
    },
    {
      text:
        'See what the next open would take with it. The plan refuses to be made while intact records would go and their ' +
        'number is not given; giving it is a decision to lose them.',
      commands: [{ line: 'felix-fsck repair-tail "$SHARD"', exit: 31 }],
    },
    {
      text:
        'When another broker holds the shard, take the damaged record from there with `felix-fsck heal` SHARD `--from` ' +
        'REPLICA: nothing is lost. Without a replica, copy out what is intact before anything else is decided.',
      commands: [{ line: 'felix-fsck salvage "$SHARD" --to salvaged', exit: 21 }],
    },
    {
      text:
        'Only when there is no replica, the copy is safe and it is decided that the log goes on without those records, ' +
        'plan the cut with their number, have it read, and apply it. To publish them again, take the payloads from the copy.',
      commands: [
        { line: 'felix-fsck repair-tail --lose-intact 3 --plan-out plan.json "$SHARD"', exit: 20 },
        { line: 'felix-fsck apply --yes plan.json' },
        { line: 'felix-fsck dump-records --from 18 --format ndjson salvaged' },
      ],
    },
  ],
};

const POWER_LOSS: Procedure = {
  title: 'A node lost power',
  fixture: 'torn-tail',
  variables: { ROOT: '.', SHARD: SHARD_NAME },
  when:
    'After a power loss or a kill -9, unfinished records at the ends of logs are the ordinary case, and the broker cuts ' +
    'them off by itself. What it does not cut, or should not, is what this procedure looks for.',
  steps: [
    {
      text:
        'Verify the data root before the broker starts. Exit code 20: the broker puts it right by itself, and no ' +
        'acknowledged record is lost. 21: it opens, but something is lost or would be. 22: it refuses.',
      commands: [{ line: 'felix-fsck verify "$ROOT"', exit: 20 }],
    },
    {
      text:
        'Read how the last run stopped. `run-state` says running after a crash; with acknowledgement before sync, records ' +
        'that producers believe to be stored may be gone without a trace, and the broker takes a new storage id for that ' +
        'reason at its next start. Do not edit the file.',
      commands: [{ line: 'felix-fsck inspect "$ROOT"', exit: 20 }],
    },
    {
      text: 'See the cut that the broker will make, with what goes in it.',
      commands: [{ line: 'felix-fsck repair-tail "$SHARD"', exit: 20 }],
    },
    {
      text:
        'A tail of zeros is unwritten space: no record is in it, and still no broker cuts more than 28 bytes of it. The ' +
        'procedure above repairs it. A zeroed block with records behind it is a lost write: heal it from a replica.',
      commands: [{ line: 'felix-fsck explain RecordHeaderChecksum' }],
    },
  ],
};

const DIVERGED: Procedure = {
  title: 'A replica halted as diverged',
  fixture: 'diverged-replicas',
  variables: { A: `broker-a/${SHARD_NAME}`, B: `broker-b/${SHARD_NAME}`, C: `broker-c/${SHARD_NAME}` },
  when:
    'A follower found that its records are not those of the leader, and stopped copying. Every file may verify: it is the ' +
    'relations between the replicas that are wrong. Copy the shard’s directory from each broker to one place, with the ' +
    'brokers stopped or from snapshots.',
  steps: [
    {
      text: 'Make sure that each replica is sound by itself: damage would be taken for divergence.',
      commands: [{ line: 'felix-fsck verify "$A" "$B" "$C"' }],
    },
    {
      text:
        'Compare their histories: the newest generation that they share, up to which offset they agree, the first record ' +
        'that differs, who would have to cut what, and whether that is under a commit offset.',
      commands: [{ line: 'felix-fsck diff-epochs "$A" "$B" "$C"', exit: 21 }],
    },
    {
      text: 'Look at the records that only one of them has, before they are cut: they may be somebody’s orders.',
      commands: [{ line: 'felix-fsck dump-records --from 12 --format ndjson "$A" > only-on-a.ndjson' }],
    },
    {
      text:
        'Let the broker cut when it offers to. A cut under a commit offset is refused by the broker and by this tool ' +
        'alike: then one of the histories acknowledged records that the others never had, and which of them counts is a ' +
        'decision about data, not about files. Keep the evidence first.',
      commands: [{ line: 'felix-fsck evidence "$A" --to evidence-a.tar.gz' }],
    },
  ],
};

const SNAPSHOT: Procedure = {
  title: 'A restored volume snapshot',
  fixture: 'data-root-with-one-bad-shard',
  variables: { ROOT: '.' },
  when:
    'A restored volume is whole and old: every checksum is right, and the node has forgotten what it acknowledged and ' +
    'whom it followed since. A broker in a cluster notices by its registration and takes a new storage id; let it, and ' +
    'never copy `storage-id`, `run-state` or `registration` from another directory.',
  steps: [
    {
      text: 'Read what the directory says of itself, and hold the registration against what the control plane has.',
      commands: [{ line: 'felix-fsck inspect "$ROOT"', exit: 22 }],
    },
    {
      text:
        'Verify it before it is mounted by a broker. Files of two times side by side (a snapshot taken while the broker ' +
        'ran, or a restore in parts) show as relations that do not hold: `CommitBeyondTail`, `EpochBeyondTail`, ' +
        '`ManifestBeyondTail`, `StorageIdMismatch`, `OffsetOutOfOrder` between segments.',
      commands: [{ line: 'felix-fsck verify "$ROOT"', exit: 22 }],
    },
    {
      text:
        'Look only at what is worse than a warning when the directory is large, and leave the report where it can be ' +
        'read again.',
      commands: [{ line: 'felix-fsck verify --fail-on error --format ndjson "$ROOT" > restored.ndjson', exit: 22 }],
    },
    {
      text:
        'Compare each shard with a replica that stayed up, by `felix-fsck diff-epochs` as above, and rebuild the node ' +
        'from its peers when it is far behind: it is cheaper than being clever.',
      commands: [],
    },
  ],
};

const SUPPORT: Procedure = {
  title: 'Handing evidence to support',
  fixture: 'flipped-bit-in-length',
  variables: { SHARD: SHARD_NAME },
  when: 'Before anything is repaired, keep what the repair will change. A bundle holds no payloads.',
  steps: [
    {
      text:
        'Make the bundle: reports, headers, small files, the bytes around each damage with payloads left out, and hashes ' +
        'of everything.',
      commands: [{ line: 'felix-fsck evidence "$SHARD" --to evidence.tar.gz' }],
    },
    {
      text: 'Look into it before it is sent; it is an ordinary archive.',
      commands: [{ line: 'tar -tzf evidence.tar.gz' }],
    },
    {
      text: 'When more than a few bytes are asked for, show the place with every field named, and read it before you send it.',
      commands: [{ line: 'felix-fsck hexdump --record 17 "$SHARD"/00000000000000000002.log' }],
    },
  ],
};

export const PROCEDURES: readonly Procedure[] = [REFUSES, DISK_FULL, POWER_LOSS, DIVERGED, SNAPSHOT, SUPPORT];

export function runbookPage(): ManPage {
  return {
    name: 'felix-fsck-runbook',
    section: 7,
    purpose: 'procedures for damaged and doubtful Felix storage',
    sections: [
      { title: 'Description', blocks: INTRODUCTION },
      ...PROCEDURES.map((procedure) => ({ title: procedure.title, blocks: procedureBlocks(procedure) })),
      ...AUDIT,
      {
        title: 'See also',
        blocks: [{ is: 'text', text: '`felix-fsck`(1), `felix-fsck-findings`(7), `felix-storage`(5)' }],
      },
    ],
  };
}

function procedureBlocks({ fixture, variables, when, steps }: Procedure): Block[] {
  return [
    { is: 'text', text: when },
    { is: 'text', text: `To try it, work on a copy of \`fixtures/${fixture}\`, in it:` },
    { is: 'lines', lines: Object.entries(variables).map(([name, value]) => `${name}=${value}`) },
    {
      is: 'steps',
      steps: steps.map(({ text, commands }): Block[] => [
        { is: 'text', text },
        ...(commands.length === 0 ? [] : [{ is: 'lines' as const, lines: commands.map(({ line }) => line) }]),
      ]),
    },
  ];
}

const INTRODUCTION: readonly Block[] = [
  {
    is: 'text',
    text:
      'Three rules hold in all of it. A broker that refuses to start stays stopped until it is known why. What looks is ' +
      'harmless and may be run at any time, on a directory that a broker serves too; what writes asks first, works only ' +
      'on a stopped broker’s directory, keeps the old bytes, and can be undone. And before anything is cut, another copy ' +
      'of the records is looked for: in a replica, or in the object store.',
  },
];
