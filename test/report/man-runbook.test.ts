/** Every command of the runbook does on the fixture what the page says, and its recipes collect what the tool writes. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { ALERTS, SSH_RECIPE, TEXTFILE } from '../../src/report/man-audit.js';
import { PROCEDURES } from '../../src/report/man-runbook.js';
import { runInProcess } from '../builders/in-process.js';
import { withScratchCopy } from '../builders/scratch-copy.js';
import { PROJECT_ROOT } from '../builders/trees.js';

describe('the runbook', function () {
  this.timeout(60_000);

  for (const { title, fixture, variables, steps } of PROCEDURES) {
    it(`“${title}” goes through on ${fixture}`, async () => {
      await withScratchCopy(fixture, async (place) => {
        for (const { line, exit = 0 } of steps.flatMap(({ commands }) => commands)) {
          const { code, stdout, stderr } = await place.shell(line, variables);
          expect(code, `${line}\n${stdout}\n${stderr}`).to.equal(exit);
        }
      });
    });
  }

  it('collects the reports of a fleet over ssh, with the exit code of each host', async () => {
    await withScratchCopy('fixtures', async (place) => {
      mkdirSync(path.join(place.dir, 'hosts.d'));
      writeFileSync(path.join(place.dir, 'hosts'), 'healthy\nzero-tail\n');
      const ssh = `#!/bin/sh\nshift; host=$1; shift\nexec sh -c "$(printf '%s' "$*" | sed "s#/var/lib/felix#fixtures/$host#")"\n`;
      writeFileSync(path.join(place.dir, '../bin/ssh'), ssh, { mode: 0o755 });
      const { code, stderr } = await place.shell(SSH_RECIPE.join('\n'));
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
      const exits = readFileSync(path.join(place.dir, 'exits'), 'utf8').trim().split('\n').sort();
      expect(exits).to.deep.equal(['healthy 0', 'zero-tail 22']);
      const day = new Date().toISOString().slice(0, 10);
      const report = readFileSync(path.join(place.dir, `fleet/day=${day}/host=zero-tail/verify.ndjson`), 'utf8');
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
    // A name alone is that of a metric of the whole run, or of one that each shard has with labels of its own.
    const written = new Set(stdout.match(/^felix_fsck_[a-z_]+(?:\{[^}]*\})?/gm));
    for (const metric of [...written]) written.add(metric.replace(/\{.*/, ''));
    expect(named.filter((metric) => !written.has(metric))).to.deep.equal([]);
    expect(stdout).to.contain('felix_fsck_shards{verdict="refuses"} 1\n');
    expect(TEXTFILE.join(' ')).to.contain('--format prometheus');
  });
});
