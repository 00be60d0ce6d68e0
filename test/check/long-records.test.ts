/** A record that is shown in pieces is shown to its end, whatever stops the reading around it. */
import { expect } from 'chai';
import { runInProcess } from '../builders/in-process.js';
import { plain } from '../builders/records.js';
import { buildSegment } from '../builders/segments.js';
import { buildShard, writeShardBelow } from '../builders/shards.js';
import { withTempDir } from '../builders/trees.js';

const LONG = 600_000;

describe('a record shown in pieces', () => {
  for (const format of ['json', 'ndjson']) {
    it(`is whole in ${format} when it is the last one that was asked for`, async () => {
      await withTempDir(async (dir) => {
        const records = [plain(0n), plain(1n, { payloadLength: LONG }), plain(2n)];
        const shard = writeShardBelow(buildShard({ segments: [buildSegment({ records })] }), dir);
        const { stdout, code } = await runInProcess(['dump-records', '--limit', '2', '--format', format, shard]);
        expect(code).to.equal(0);
        const rows =
          format === 'json'
            ? JSON.parse(stdout).rows
            : stdout
                .trim()
                .split('\n')
                .map((line) => JSON.parse(line));
        const payload = Buffer.from(rows[1].payload, 'base64');
        expect(payload.equals(records[1]!.payload)).to.equal(true);
        expect(rows[1].text).to.equal(payload.toString('utf8'));
        expect(rows.filter(({ type }: { type: string }) => type === 'record')).to.have.length(2);
      });
    });
  }
});
