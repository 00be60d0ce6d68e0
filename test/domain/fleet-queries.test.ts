import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { FLEET_FILES, FLEET_LAYOUT, FLEET_LOAD, FLEET_QUERIES } from '../../src/domain/fleet-queries.js';
import { damaged, flipBit } from '../builders/damage.js';
import { runInProcess } from '../builders/in-process.js';
import { indexName, logName, type ShardImage, threeSegments, writeShardBelow } from '../builders/shards.js';
import { PROJECT_ROOT } from '../builders/trees.js';

type Row = Readonly<Record<string, unknown>>;

/** Runs one statement and gives its rows, numbers of more than 53 bits as text. */
type Ask = (sql: string) => Promise<readonly Row[]>;

/** A database without a file; null where its binary does not load. */
async function openDatabase(): Promise<Ask | null> {
  try {
    const { DuckDBInstance } = await import('@duckdb/node-api');
    const connection = await (await DuckDBInstance.create(':memory:')).connect();
    return async (sql) => (await connection.runAndReadAll(sql)).getRowObjectsJson() as Row[];
  } catch {
    return null;
  }
}

const HOSTS = 300;
const YESTERDAY = '2026-11-28';
const TODAY = '2026-11-29';

/** Every tenth host but the first has a flipped bit in a payload of segment 0; the first and the last are told below. */
type Story = 'grows' | 'flipped' | 'refuses' | 'goes silent' | 'cut back';

function storyOf(host: number): Story {
  if (host === 0) return 'refuses';
  if (host === HOSTS - 1) return 'goes silent';
  if (host === HOSTS - 2) return 'cut back';
  return host % 10 === 0 ? 'flipped' : 'grows';
}

/** Three digits alone, so that a name that looks like a number stays one. */
function nameOf(host: number): string {
  return String(host).padStart(3, '0');
}

const WHOLE = threeSegments().image;
const TWO: ShardImage = new Map([...WHOLE].filter(([file]) => file !== logName(2) && file !== indexName(2)));
const FLIPPED = damaged(WHOLE, flipBit(logName(0), 32 + 28 + 2, 3));
const THIRD_BYTES = WHOLE.get(logName(2))!.length;

/** What `verify` prints of each store, all of them at one path. */
async function reportsOf(directory: string): Promise<ReadonlyMap<ShardImage | 'refusing', string>> {
  const reports = new Map<ShardImage | 'refusing', string>();
  const lines = async (path: string) => (await runInProcess(['verify', '--format', 'ndjson', path])).stdout;
  const root = join(directory, 'data');
  for (const image of [TWO, WHOLE, FLIPPED]) {
    writeShardBelow(image, root);
    reports.set(image, await lines(root));
  }
  reports.set('refusing', await lines(join(PROJECT_ROOT, 'fixtures', 'zero-tail')));
  return reports;
}

function imageOf(story: Story, day: string): ShardImage | 'refusing' | null {
  const today = day === TODAY;
  switch (story) {
    case 'refuses':
      return 'refusing';
    case 'goes silent':
      return today ? null : TWO;
    case 'cut back':
      return today ? TWO : WHOLE;
    case 'flipped':
      return today ? FLIPPED : TWO;
    case 'grows':
      return today ? WHOLE : TWO;
  }
}

async function writeFleet(directory: string): Promise<void> {
  const reports = await reportsOf(directory);
  for (const day of [YESTERDAY, TODAY]) {
    for (let host = 0; host < HOSTS; host++) {
      const image = imageOf(storyOf(host), day);
      if (image === null) continue;
      const at = join(directory, FLEET_LAYOUT.replace('2026-11-29', day).replace('broker-17', nameOf(host)));
      mkdirSync(join(at, '..'), { recursive: true });
      writeFileSync(at, reports.get(image)!);
    }
  }
}

describe('the lines of a fleet', function () {
  this.timeout(60_000);

  let ask: Ask;
  let directory: string;
  let files: string;

  before(async function () {
    directory = mkdtempSync(join(tmpdir(), 'felix-fsck-test-'));
    const database = await openDatabase();
    if (database === null) this.skip();
    ask = database;
    await writeFleet(directory);
    files = join(directory, FLEET_FILES);
  });

  after(() => rmSync(directory, { recursive: true }));

  it('load as they are, without being told anything of them', async () => {
    const rows = await ask(
      `SELECT type, count(*)::INT AS lines FROM read_json_auto('${files}', union_by_name = true) GROUP BY type ORDER BY 1`,
    );
    const lines = 2 * HOSTS - 1;
    expect(rows).to.deep.equal([
      { type: 'shard', lines },
      { type: 'summary', lines },
    ]);
  });

  it('answer every query of the runbook', async () => {
    for (const statement of FLEET_LOAD.replace(FLEET_FILES, files).split(/;\n?/)) if (statement) await ask(statement);
    const answers = new Map<string, readonly Row[]>();
    for (const { name, sql } of FLEET_QUERIES) answers.set(name, await ask(sql));

    const flipped = HOSTS / 10 - 1;
    const worst = answers.get('worst-shards')!;
    expect(worst).to.have.length(20);
    expect(worst[0]).to.deep.include({ host: '000', verdict: 'refuses', damaged: '4096', lost_records: '0' });
    expect(worst[1]).to.deep.include({ host: '010', verdict: 'refuses', errors: '1', lost_records: '1' });

    const damage = answers.get('damage-by-kind-and-host')!;
    expect(damage.filter(({ kind }) => kind === 'RecordChecksum')).to.have.length(flipped);
    expect(damage.find(({ host }) => host === '000')).to.deep.include({ kind: 'RecordHeaderChecksum', shards: '1' });
    expect(damage).to.have.length(flipped + 1);

    const growth = answers.get('growth-since-yesterday')!;
    expect(growth).to.have.length(HOSTS - 1);
    expect(growth[0]).to.deep.equal({
      host: nameOf(HOSTS - 2),
      bytes_grown: String(-THIRD_BYTES),
      offsets_grown: '-6',
      shards_gone_back: '1',
    });
    expect(growth[1]).to.deep.include({
      bytes_grown: String(THIRD_BYTES),
      offsets_grown: '6',
      shards_gone_back: '0',
    });
    expect(growth.at(-1)).to.deep.include({ host: '000', bytes_grown: '0', offsets_grown: '0' });

    const fresh = answers.get('new-since-yesterday')!;
    expect(fresh).to.have.length(flipped);
    expect(fresh[0]).to.deep.include({ host: '010', file: logName(0), kind: 'RecordChecksum', severity: 'fatal' });

    expect(answers.get('silent-hosts')).to.deep.equal([{ host: nameOf(HOSTS - 1) }]);
    expect([...answers.keys()]).to.have.length(5);
  });
});
