import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { SHARD_DIR_NAME } from '../builders/shards.js';
import { withTempDir } from '../builders/trees.js';
import { checked } from '../corpus/checked.js';

const WRITER = fileURLToPath(new URL('./writer.js', import.meta.url));
const LOOKS = 200;

describe('a shard that a broker is writing to', function () {
  this.timeout(180_000);

  it(`gives nothing above info in ${LOOKS} looks, and records each time`, () =>
    withTempDir(async (directory) => {
      const shard = join(directory, SHARD_DIR_NAME);
      const writer = spawn(process.execPath, [WRITER, shard, '170000', '4'], { stdio: 'ignore' });
      try {
        await appears(join(shard, '00000000000000000002.log'), writer);
        const above: string[] = [];
        let changed = 0;
        for (let look = 0; look < LOOKS; look++) {
          const { shards, summary } = await checked(shard, {
            nowMicros: BigInt(Date.now()) * 1000n,
            patienceMs: 2000,
          });
          const findings = shards.flatMap((report) => report.findings);
          above.push(...findings.filter(({ severity }) => severity !== 'info').map(({ message }) => message));
          if (findings.some(({ kind }) => kind === 'ChangedWhileReading')) changed++;
          expect(summary.records).to.be.above(0);
          expect(summary.exitCode).to.equal(0);
        }
        expect(above).to.deep.equal([]);
        expect(changed, 'looks that met a change').to.be.above(0);
      } finally {
        await stopped(writer);
      }
    }));

  it('still tells damage in a segment that nobody touches any more', () =>
    withTempDir(async (directory) => {
      const shard = join(directory, SHARD_DIR_NAME);
      const writer = spawn(process.execPath, [WRITER, shard, '60000', '1000000'], { stdio: 'ignore' });
      try {
        await appears(join(shard, '00000000000000000001.log'), writer);
        const oldest = openSync(join(shard, '00000000000000000000.log'), 'r+');
        writeSync(oldest, Buffer.from([0xff]), 0, 1, 32 + 28);
        closeSync(oldest);
        for (let look = 0; look < 10; look++) {
          const { shards } = await checked(shard, { nowMicros: BigInt(Date.now()) * 1000n, patienceMs: 2000 });
          const kinds = shards.flatMap((report) => report.findings.map(({ kind }) => kind));
          expect(kinds).to.include('RecordChecksum');
        }
      } finally {
        await stopped(writer);
      }
    }));
});

async function appears(path: string, writer: ChildProcess): Promise<void> {
  while (!existsSync(path)) {
    expect(writer.exitCode, 'the writer is still there').to.equal(null);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Kills the writer and waits until it has gone, so that nothing appears in the folder any more. */
async function stopped(writer: ChildProcess): Promise<void> {
  if (writer.exitCode !== null || writer.signalCode !== null) return;
  const gone = new Promise((resolve) => writer.once('exit', resolve));
  writer.kill('SIGKILL');
  await gone;
}
