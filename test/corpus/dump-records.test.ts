import { readdirSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { runInProcess } from '../builders/in-process.js';
import { describeWithCorpus, PROJECT_ROOT } from '../builders/trees.js';
import { checked } from './checked.js';

interface Row {
  readonly type: string;
  readonly records: number;
  readonly path: string;
  readonly kind: string;
  readonly segment: string;
  readonly position: number;
  readonly lostOffsets: { readonly from: string; readonly to: string } | null;
}

const IN_RECORDS =
  /^(Truncated|Record(HeaderChecksum|Checksum|Flags|TooLarge)|OffsetOutOfOrder|Segment(Magic|Version|Flags|HeaderChecksum))$/;

/** Damage of one segment in one line, in whatever order it was met. */
function lines(of: Iterable<readonly [string, string, string, number, unknown]>): string[] {
  return [...of].map((parts) => parts.join(' ')).sort();
}

async function dumped(at: string) {
  const { stdout } = await runInProcess(['dump-records', at, '--format', 'ndjson', '--no-payload']);
  const rows = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Row);
  const damage = rows.filter(({ type }) => type === 'damage');
  const headless = new Set(damage.filter(({ kind }) => kind.startsWith('Segment')).map((row) => row.path));
  return {
    records: rows.at(-1)!.records,
    // Behind a header that cannot be read, bytes without a record are told by themselves.
    damage: lines(
      damage
        .filter((row) => row.kind.startsWith('Segment') || row.position !== 32 || !headless.has(row.path))
        .map((row) => [row.path, row.kind, row.segment, row.position, lostText(row.lostOffsets)] as const),
    ),
  };
}

async function verified(at: string) {
  const { shards } = await checked(at);
  const findings = shards.flatMap((shard) => shard.findings);
  return {
    records: shards.flatMap(({ segments }) => segments).reduce((sum, { records }) => sum + records, 0),
    damage: lines(
      findings
        .filter(({ kind, file }) => IN_RECORDS.test(kind) && file?.endsWith('.log'))
        .map(({ path: file, kind, site, lostOffsets }) => {
          return [file, kind, String(site.segment), site.position ?? -1, lostText(lostOffsets)] as const;
        }),
    ),
  };
}

function lostText(lost: { readonly from: unknown; readonly to: unknown } | null): string {
  return lost === null ? 'unknown' : `${lost.from}..${lost.to}`;
}

function below(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => path.join(directory, name));
}

describe('dump-records and verify', () => {
  it('meet the same records and the same damage in every fixture', async () => {
    for (const at of below(path.join(PROJECT_ROOT, 'fixtures'))) {
      expect(await dumped(at), at).to.deep.equal(await verified(at));
    }
  });
});

describeWithCorpus('dump-records and verify over the cases', (corpus) => {
  it('meet the same records and the same damage', async function () {
    this.timeout(120_000);
    const cases = below(path.join(corpus, 'cases'));
    expect(cases.length).to.be.above(100);
    for (const at of cases) expect(await dumped(at), at).to.deep.equal(await verified(at));
  });
});
