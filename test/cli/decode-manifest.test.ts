import { expect } from 'chai';
import { encodeManifest } from '../../src/format/manifest.js';
import { displayWidth } from '../../src/report/wrap.js';
import { HOSTILE, RAW } from '../builders/reports.js';
import { runCli } from '../builders/run-cli.js';
import { SHARD_DIR_NAME, threeSegments, writeShardBelow } from '../builders/shards.js';
import { offloaded } from '../builders/sidecars.js';
import { withTempDir } from '../builders/trees.js';

const FIXTURE = 'fixtures/offload-with-a-hole';
const SHARD = `${FIXTURE}/${SHARD_DIR_NAME}`;
const KEY = `broker-a/${SHARD_DIR_NAME}/00000000000000000010-00000000000000000002.segment`;

describe('cli/decode-manifest', () => {
  it('without objects says nothing of them, and exits as verify does', async () => {
    const { code, stdout } = await runCli(['decode-manifest', SHARD]);
    expect(code).to.equal(0);
    expect(stdout)
      .to.include('objects')
      .and.not.to.match(/missing/i);
    expect(stdout).to.include('Offsets 5..10: neither here nor offloaded\n');
  });

  it('with objects names the missing one, in every format', async () => {
    const args = ['decode-manifest', '--objects', `${FIXTURE}/objects`];
    const table = await runCli([...args, SHARD]);
    expect([table.code, table.stderr]).to.deep.equal([21, '']);
    expect(table.stdout).to.include('ObjectMissing');
    const json = JSON.parse((await runCli([...args, '--format', 'json', `${SHARD}/offload.manifest`])).stdout);
    expect(json).to.deep.include({ schema: 'felix-fsck.decode-manifest/1', exitCode: 21, count: 2 });
    expect(json.findings.map(({ kind }: { kind: string }) => kind)).to.have.members(['ObjectMissing', 'HistoryHole']);
    expect(json.entries[1]).to.deep.include({ key: KEY, object: 'missing', baseOffset: '10', bytes: 348 });
    const lines = (await runCli([...args, '--format', 'ndjson', SHARD])).stdout.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line).type)).to.deep.equal(['entry', 'entry', 'summary']);
  });

  it('exits 2 for what is not there', async () => {
    const codes = [['fixtures/zero-tail'], ['fixtures/nothing'], ['--objects', 'fixtures/nothing', SHARD]].map(
      async (args) => (await runCli(['decode-manifest', ...args])).code,
    );
    expect(await Promise.all(codes)).to.deep.equal([2, 2, 2]);
  });

  for (const width of [40, 80, 120]) {
    it(`keeps to ${width} columns, and no control byte from a key reaches the terminal`, async () => {
      await withTempDir(async (dir) => {
        const { image, segments } = threeSegments();
        const key = HOSTILE.replace(/\ud800/g, '');
        const manifest = encodeManifest({ entries: [{ ...offloaded(segments[0]!, 0n), key }] });
        const shard = writeShardBelow(new Map([...image, ['offload.manifest', manifest] as const]), dir);
        const { stdout, code } = await runCli(['decode-manifest', '--objects', dir, shard], {
          env: { COLUMNS: String(width) },
        });
        expect(code).to.equal(21);
        for (const line of stdout.split('\n')) {
          expect(line).not.to.match(RAW);
          expect(displayWidth(line), line).to.be.at.most(width);
        }
      });
    });
  }
});
