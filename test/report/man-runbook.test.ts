/** Every command of the runbook does on the fixture what the page says, and its queries read what the tool writes. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { expect } from 'chai';
import { ALERTS, QUERIES, SSH_RECIPE, TEXTFILE, VIEW_SQL } from '../../src/report/man-audit.js';
import { PROCEDURES } from '../../src/report/man-runbook.js';
import { runInProcess } from '../builders/in-process.js';
import { PROJECT_ROOT, withTempDir } from '../builders/trees.js';
import { withWorkplace } from '../builders/workplace.js';

describe('the runbook', function () {
  this.timeout(60_000);

  for (const { title, fixture, variables, steps } of PROCEDURES) {
    it(`“${title}” goes through on ${fixture}`, async () => {
      await withWorkplace(fixture, async (place) => {
        for (const { line, exit = 0 } of steps.flatMap(({ commands }) => commands)) {
          const { code, stdout, stderr } = await place.shell(line, variables);
          expect(code, `${line}\n${stdout}\n${stderr}`).to.equal(exit);
        }
      });
    });
  }

  it('collects the reports of a fleet over ssh, with the exit code of each host', async () => {
    await withWorkplace('fixtures', async (place) => {
      mkdirSync(path.join(place.dir, 'hosts.d'));
      writeFileSync(path.join(place.dir, 'hosts'), 'healthy\nzero-tail\n');
      const ssh = `#!/bin/sh\nshift; host=$1; shift\nexec sh -c "$(printf '%s' "$*" | sed "s#/var/lib/felix#fixtures/$host#")"\n`;
      writeFileSync(path.join(place.dir, '../bin/ssh'), ssh, { mode: 0o755 });
      const { code, stderr } = await place.shell(SSH_RECIPE.join('\n'));
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
      const exits = readFileSync(path.join(place.dir, 'exits'), 'utf8').trim().split('\n').sort();
      expect(exits).to.deep.equal(['healthy 0', 'zero-tail 22']);
      const day = new Date().toISOString().slice(0, 10);
      const report = readFileSync(path.join(place.dir, `reports/zero-tail/${day}.ndjson`), 'utf8');
      expect(report).to.contain('"type":"summary"');
    });
  });

  it('names metrics that the tool writes', async () => {
    const { stdout } = await runInProcess([
      'verify',
      '--format',
      'prometheus',
      path.join(PROJECT_ROOT, 'fixtures/data-root-with-one-bad-shard'),
    ]);
    const named = ALERTS.join('\n').match(/felix_fsck_[a-z_]+(?:\{[^}]*\})?/g) ?? [];
    expect(named).not.to.have.length(0);
    for (const metric of named) expect(stdout).to.contain(`\n${metric} `);
    expect(stdout).to.contain('felix_fsck_shards{verdict="refuses"} 1\n');
    expect(TEXTFILE.join(' ')).to.contain('--format prometheus');
  });

  it('asks DuckDB what the reports of a fleet can answer', async () => {
    await withTempDir(async (dir) => {
      await fleet(dir);
      const instance = await DuckDBInstance.create(':memory:');
      const connection = await instance.connect();
      const asked = async (sql: string) => (await connection.runAndReadAll(sql)).getRowObjectsJson();
      await connection.run(VIEW_SQL.replace('reports/*', `${dir}/reports/*`));
      const answers = [];
      for (const { sql } of QUERIES) answers.push(await asked(sql));
      const [worst, kinds, growth, fresh] = answers;
      expect(worst?.map(({ host, shard, fatal, error }) => [host, shard, Number(fatal), Number(error)])).to.deep.equal([
        ['a', 'acme/default/orders/0', 1, 0],
        ['b', 'acme/default/orders/0', 0, 1],
      ]);
      expect(kinds?.map(({ host, kind, findings }) => [host, kind, Number(findings)])).to.deep.equal([
        ['a', 'RecordHeaderChecksum', 1],
        ['b', 'RecordChecksum', 1],
      ]);
      expect(growth?.map(({ host, records }) => [host, Number(records)])).to.deep.equal([
        ['b', 0],
        ['a', 4],
      ]);
      expect(fresh?.map(({ host, kind }) => [host, kind])).to.deep.equal([['a', 'RecordHeaderChecksum']]);
      connection.closeSync();
      instance.closeSync();
    });
  });
});

/** Two hosts and two days: host a grew by four records and took damage, host b had its damage before. */
async function fleet(dir: string): Promise<void> {
  const verified = async (fixture: string) =>
    (await runInProcess(['verify', '--format', 'ndjson', path.join(PROJECT_ROOT, 'fixtures', fixture)])).stdout;
  const put = (host: string, day: string, text: string) => {
    mkdirSync(path.join(dir, 'reports', host), { recursive: true });
    writeFileSync(path.join(dir, 'reports', host, `${day}.ndjson`), text);
  };
  const damaged = (await verified('zero-tail')).replaceAll('zero-tail', 'x');
  put(
    'a',
    '2026-03-01',
    (await verified('healthy'))
      .replaceAll('fixtures/healthy', 'fixtures/x')
      .replace(/"tailOffset":"\d+"/, '"tailOffset":"17"'),
  );
  put('a', '2026-03-02', damaged);
  const old = await verified('flipped-bit-in-payload');
  put('b', '2026-03-01', old);
  put('b', '2026-03-02', old);
}
