import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { Progress, progressLine } from '../../src/cli/progress.js';

const MIB = 1024 * 1024;

describe('progress', () => {
  it('names bytes, share, rate, time left and findings', () => {
    expect(progressLine(256 * MIB, 1024 * MIB, 1000, 2)).to.equal(
      '256 of 1,024 MiB (25%), 256 MiB/s, 3 s left, 2 findings',
    );
    expect(progressLine(1024 * MIB, 1024 * MIB, 4000, 1)).to.equal(
      '1,024 of 1,024 MiB (100%), 256 MiB/s, 0 s left, 1 finding',
    );
  });

  it('claims no time left before anything was passed, and never more than all', () => {
    expect(progressLine(0, 10 * MIB, 1000, 0)).to.equal('0 of 10 MiB (0%), 0 MiB/s, 0 findings');
    expect(progressLine(20 * MIB, 10 * MIB, 1000, 0)).to.match(/^20 of 10 MiB \(100%\), 20 MiB\/s, 0 s left/);
    expect(progressLine(0, 0, 1000, 0)).to.include('(100%)');
  });

  for (const [isTTY, wanted, title] of [
    [false, true, 'where standard error is no terminal'],
    [true, false, 'where it is not wanted'],
  ] as const) {
    it(`writes nothing ${title}`, async () => {
      const { written, stop } = await shown(isTTY, wanted);
      stop();
      expect(written()).to.equal('');
    });
  }

  it('writes one line over and over, within the width, and wipes it', async () => {
    const { written, stop } = await shown(true, true);
    stop();
    expect(written()).to.not.include('\n');
    expect(written().endsWith('\r\u001b[K')).to.equal(true);
    for (const line of written().split('\r\u001b[K')) expect(line.length).to.be.below(30);
    expect(written()).to.include('5 of 10 MiB');
  });
});

/** What is written in the first 900 ms on a terminal of 30 columns. */
async function shown(isTTY: boolean, wanted: boolean): Promise<{ written: () => string; stop: () => void }> {
  const stream = Object.assign(new PassThrough(), { isTTY, columns: 30 });
  let text = '';
  stream.on('data', (data: Buffer) => {
    text += data.toString();
  });
  const progress = new Progress(stream, wanted, {
    passed: () => 5 * MIB,
    total: () => 10 * MIB,
    findings: () => 0,
  });
  await new Promise((resolve) => setTimeout(resolve, 900));
  return { written: () => text, stop: () => progress.stop() };
}
