/**
 * Exit codes as data: what each says, when it is given and what to do then. One code for one meaning; no bits are added up.
 */

export interface ExitCode {
  readonly code: number;
  /** One word, for tables. */
  readonly name: string;
  readonly when: string;
  readonly whatNext: string;
}

const FATAL_NEXT =
  'Keep the broker stopped. Run the command under Next of the worst finding; felix-fsck explain KIND tells the ways out and what each loses.';

export const EXIT_CODES = [
  {
    code: 0,
    name: 'clean',
    when: 'Everything asked for was read, and nothing is at or above --fail-on; a plan is empty; an apply or undo did what it said.',
    whatNext: 'Nothing to do.',
  },
  {
    code: 1,
    name: 'bug',
    when: 'The tool failed by a fault of its own; this says nothing about the data.',
    whatNext: 'Report it with the text on stderr. Take no step on the shard because of it.',
  },
  {
    code: 2,
    name: 'usage',
    when: 'Wrong usage, or a path that does not exist or is not part of a store; nothing was judged.',
    whatNext: 'Correct the command line; felix-fsck COMMAND --help lists the options.',
  },
  {
    code: 20,
    name: 'warning',
    when: 'The worst finding is a warning: the broker opens the shard and puts it right by itself. Also a plan that has steps.',
    whatNext:
      'Read what the open will change; start the broker, or plan and apply the same change by the command under Next.',
  },
  {
    code: 21,
    name: 'error',
    when: 'The worst finding is an error: the shard opens, but records or facts are lost, unreadable or contradict each other.',
    whatNext:
      'Settle it before a broker opens the shard again, makes it leader or runs retention: heal it from a replica, or salvage what is intact; felix-fsck explain KIND tells the ways out.',
  },
  {
    code: 22,
    name: 'fatal',
    when: 'The worst finding is fatal: the broker refuses to open the shard.',
    whatNext: FATAL_NEXT,
  },
  {
    code: 30,
    name: 'unreadable',
    when: 'Something could not be read, and nothing worse was found; what was not read is not known to be bad.',
    whatNext: 'Run as a user who may read it. On I/O errors image the device first, and work on the image.',
  },
  {
    code: 31,
    name: 'refused',
    when: 'Refused: the shard looks live, its bytes changed since the plan, a cut would go under the commit offset, more would be lost than was allowed, or nobody confirmed.',
    whatNext: 'Nothing was changed. Remove the reason that was named, plan again, and apply the new plan.',
  },
  {
    code: 33,
    name: 'part-way',
    when: 'apply or undo failed part-way; the journal that it names brings the old bytes back.',
    whatNext: 'Keep the broker stopped and the journal safe. Run apply --resume on the plan, or undo on the journal.',
  },
  {
    code: 130,
    name: 'interrupted',
    when: 'Interrupted (SIGINT); the report so far is marked "partial": true.',
    whatNext: 'Run it again; what the partial report does not name was not judged.',
  },
  {
    code: 143,
    name: 'terminated',
    when: 'Terminated (SIGTERM); the report so far is marked "partial": true.',
    whatNext: 'Run it again; what the partial report does not name was not judged.',
  },
] as const satisfies readonly ExitCode[];

export type ExitCodeNumber = (typeof EXIT_CODES)[number]['code'];

/** Over many shards the first of these that applies is given. */
export const EXIT_CODE_PRECEDENCE = [1, 33, 22, 21, 30, 31, 20, 0] as const satisfies readonly ExitCodeNumber[];
