import { expect } from 'chai';
import { displayWidth } from '../../src/report/wrap.js';
import { plain } from '../builders/records.js';
import { RAW } from '../builders/reports.js';
import { runCli } from '../builders/run-cli.js';
import { buildSegment } from '../builders/segments.js';
import { logName, writeShardBelow } from '../builders/shards.js';
import { withTempDir } from '../builders/trees.js';

describe('cli/hexdump', () => {
  it('shows a record as table, JSON and NDJSON', async () => {
    const file = `fixtures/healthy/acme_default_orders_0-0d3aed4b998d2798/${logName(1)}`;
    const table = await runCli(['hexdump', '--record', '7', file]);
    expect([table.code, table.stderr]).to.deep.equal([0, '']);
    expect(table.stdout).to.include('offset = 7 - logical offset').and.to.include('it holds');
    const json = await runCli(['hexdump', '--record', '7', '--format', 'json', file]);
    const parsed = JSON.parse(json.stdout);
    expect(parsed).to.include({ schema: 'felix-fsck.hexdump/1', path: file });
    expect(parsed.fields.find(({ name }: { name: string }) => name === 'offset').value).to.equal('7');
    const ndjson = await runCli(['hexdump', '--at', String(parsed.at), '--format', 'ndjson', file]);
    expect(JSON.parse(ndjson.stdout)).to.deep.equal({ type: 'hexdump', ...parsed });
  });

  it('wants one place, and exits 2 without', async () => {
    const file = `fixtures/healthy/acme_default_orders_0-0d3aed4b998d2798/${logName(1)}`;
    const codes = [
      [],
      ['--at', '3', '--record', '7'],
      ['--at', '99999'],
      ['--at', 'x'],
      ['--context', '9999999', '--at', '1'],
    ].map(async (args) => (await runCli(['hexdump', ...args, file])).code);
    expect(await Promise.all(codes)).to.deep.equal([2, 2, 2, 2, 2]);
  });

  for (const width of [40, 80, 120]) {
    it(`keeps to ${width} columns, and no control byte from a payload reaches the terminal`, async () => {
      await withTempDir(async (dir) => {
        const payload = Uint8Array.from({ length: 300 }, (_, at) => at & 255);
        const image = new Map([[logName(0), buildSegment({ records: [plain(0n, { payload })] }).log]]);
        const shard = writeShardBelow(image, dir);
        const { stdout, code } = await runCli(['hexdump', '--at', '40', `${shard}/${logName(0)}`], {
          env: { COLUMNS: String(width) },
        });
        expect(code).to.equal(0);
        for (const line of stdout.split('\n')) {
          expect(line).not.to.match(RAW);
          expect(displayWidth(line), line).to.be.at.most(width);
        }
      });
    });
  }
});
