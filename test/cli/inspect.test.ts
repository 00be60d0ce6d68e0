import path from 'node:path';
import { expect } from 'chai';
import { displayWidth } from '../../src/report/wrap.js';
import { createFile, damaged } from '../builders/damage.js';
import { RAW } from '../builders/reports.js';
import { runCli } from '../builders/run-cli.js';
import { threeSegments, writeShardBelow } from '../builders/shards.js';
import { hashTree, PROJECT_ROOT, withTempDir } from '../builders/trees.js';

const FIXTURES = path.join(PROJECT_ROOT, 'fixtures');

describe('cli/inspect', () => {
  it('tells all fixtures in every format without a change to any of them', async () => {
    const before = hashTree(FIXTURES);
    for (const format of ['table', 'json', 'ndjson']) {
      const { code, stdout, stderr } = await runCli(['inspect', '--format', format, FIXTURES]);
      expect([code, stderr]).to.deep.equal([22, '']);
      expect(stdout).to.include('acme/default/orders/0');
      if (format === 'json') expect(JSON.parse(stdout)).to.include({ schema: 'felix-fsck.inspect/1', partial: false });
      if (format !== 'ndjson') continue;
      const lines = stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).type);
      expect([...new Set(lines)]).to.deep.equal(['root', 'summary']);
    }
    expect(hashTree(FIXTURES)).to.deep.equal(before);
  });

  it('exits 0 for what is sound, 2 for what is not there, and as asked with --fail-on', async () => {
    const codes = [
      ['fixtures/healthy'],
      ['fixtures/nothing-here'],
      ['fixtures/damaged-replica-file'],
      ['--fail-on', 'never', 'fixtures/damaged-replica-file'],
      ['package.json', 'fixtures/healthy'],
    ].map(async (args) => (await runCli(['inspect', ...args])).code);
    expect(await Promise.all(codes)).to.deep.equal([0, 2, 22, 0, 0]);
  });

  for (const width of [40, 80, 120]) {
    it(`keeps to ${width} columns, and no control byte from a name reaches the terminal`, async () => {
      await withTempDir(async (dir) => {
        const image = damaged(threeSegments().image, createFile('\u001b[2J\u0007\u009bx', new Uint8Array(3)));
        const shard = writeShardBelow(image, dir, 'not\u001b[31ma-shard');
        const { stdout, code } = await runCli(['inspect', shard], { env: { COLUMNS: String(width) } });
        expect(code).to.equal(0);
        for (const line of stdout.split('\n')) {
          expect(line).not.to.match(RAW);
          expect(displayWidth(line), line).to.be.at.most(width);
        }
      });
    });
  }
});
