import { expect } from 'chai';
import { encodeBallot } from '../../src/format/ballot.js';
import { displayWidth } from '../../src/report/wrap.js';
import { HOSTILE, RAW } from '../builders/reports.js';
import { runCli } from '../builders/run-cli.js';
import { SHARD_DIR_NAME, v4WithGenerations, writeShardBelow } from '../builders/shards.js';
import { withTempDir } from '../builders/trees.js';

const [A, B, C] = ['a', 'b', 'c'].map((broker) => `fixtures/diverged-replicas/broker-${broker}/${SHARD_DIR_NAME}`) as [
  string,
  string,
  string,
];

describe('cli/diff-epochs', () => {
  it('tells who parted, where, and who would cut what', async () => {
    const { code, stdout, stderr } = await runCli(['diff-epochs', A, B, C]);
    expect([code, stderr]).to.deep.equal([21, '']);
    expect(stdout).to.include('known to').and.to.include('A would cut offsets 12..16 (4 intact records, 244 bytes');
    expect(stdout).to.include('C cuts nothing.\n').and.to.include('First difference: offset 12, in kind');
  });

  it('exits 0 for one history, 2 for what cannot be compared', async () => {
    const codes = [[B, C], [B], [B, 'fixtures/nothing'], [B, 'fixtures']].map(
      async (paths) => (await runCli(['diff-epochs', ...paths])).code,
    );
    expect(await Promise.all(codes)).to.deep.equal([0, 2, 2, 2]);
  });

  it('gives the same as JSON and NDJSON, u64 as text', async () => {
    const json = JSON.parse((await runCli(['diff-epochs', '--format', 'json', A, B])).stdout);
    expect(json).to.include({ schema: 'felix-fsck.diff-epochs/1', leader: 'B', exitCode: 21 });
    expect(json.pairs[0]).to.deep.include({ a: 'A', b: 'B', relation: 'diverged', agreedTo: '12' });
    expect(json.cuts[0]).to.deep.include({ replica: 'A', verdict: 'cut', cut: { from: '12', to: '16' }, records: 4 });
    const lines = (await runCli(['diff-epochs', '--format', 'ndjson', A, B])).stdout.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).type)).to.deep.equal(['replica', 'replica', 'pair', 'cut', 'summary']);
  });

  for (const width of [40, 80, 120]) {
    it(`keeps to ${width} columns and, without UTF-8, to ASCII, and no control byte reaches the terminal`, async () => {
      await withTempDir(async (dir) => {
        const leader = HOSTILE.replace(/\ud800/g, '');
        const image = new Map([...v4WithGenerations().image, ['ballot', encodeBallot({ generation: 4n, leader })]]);
        const paths = ['\u001b[31mone', 'two\u009b'].map((name) => writeShardBelow(image, dir, name));
        for (const env of [{ LC_ALL: 'C.UTF-8' }, { LC_ALL: 'C' }]) {
          const { stdout, code } = await runCli(['diff-epochs', ...paths], { env: { COLUMNS: String(width), ...env } });
          expect(code).to.equal(0);
          if (env.LC_ALL === 'C') expect(stdout).to.match(/^[\n -~]+$/);
          for (const line of stdout.split('\n')) {
            expect(line).not.to.match(RAW);
            expect(displayWidth(line), line).to.be.at.most(width);
          }
        }
      });
    });
  }
});
