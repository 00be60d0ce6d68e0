/** `explain` tells an operator what a kind, a code or a line of the log means, with commands that can be pasted. */
import { expect } from 'chai';
import { CATALOGUE } from '../../src/domain/catalogue.js';
import { EXIT_CODES } from '../../src/domain/exit-codes.js';
import type { FindingKind } from '../../src/domain/finding.js';
import { runCli } from '../builders/run-cli.js';

const KINDS = Object.keys(CATALOGUE) as FindingKind[];
const SHARD = 'acme_default_orders_0-0d3aed4b998d2798';
const LINE =
  'corruption detected: record header checksum mismatch (expected 0x00000000, found 0xc2b6d0f5) ' +
  '(shard=acme/default/orders/0, segment=2, position=426)';

async function explained(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCli(['explain', ...args], { env: { COLUMNS: '100' } });
  expect(stderr).to.equal('');
  expect(code).to.equal(0);
  return stdout;
}

describe('explain', () => {
  it('fills the place in a broker’s line into the commands that it proposes', async () => {
    const text = await explained('--shard', '/data/my shard', LINE);
    expect(text).to.contain("felix-fsck verify '/data/my shard'\n");
    expect(text).to.contain("felix-fsck hexdump '/data/my shard'/00000000000000000002.log --at 426\n");
    expect(text).to.contain("felix-fsck repair-tail --cut-at 426 '/data/my shard'\n");
    expect(text).to.contain('segment 2, byte 426, expected 0x00000000, found 0xc2b6d0f5');
    expect(text).not.to.contain('SHARD');
  });

  it('names the directory of the shard when only its label is known', async () => {
    expect((await explained(LINE)).replace(/\s+/g, ' ')).to.contain(`SHARD: the directory ${SHARD},`);
  });

  it('points to the index where the broker complains of an index', async () => {
    const text = await explained('--shard', 's', 'bad index magic 0x00000000 (shard=a/b/c/0, segment=7, position=0)');
    expect(text).to.contain('felix-fsck hexdump s/00000000000000000007.index --at 0\n');
  });

  it('reads a log from standard input, and explains the first line of a broker in it', async () => {
    const log = `starting\nanother line with Truncated in it\n${LINE}\nmore\n`;
    const { stdout, code } = await runCli(['explain', '-', '--format', 'json'], { input: log });
    expect(code).to.equal(0);
    expect(JSON.parse(stdout)).to.deep.include({ kind: 'RecordHeaderChecksum', type: 'kind' });
  });

  it('lists every kind and every exit code when nothing is asked', async () => {
    const text = await explained();
    for (const kind of KINDS) expect(text).to.match(new RegExp(`^ +${kind} `, 'm'));
    for (const { code, name } of EXIT_CODES) expect(text).to.match(new RegExp(`^ +${code} +${name} `, 'm'));
  });

  it('tells cause, bytes, the broker’s part, every way out with its loss, and the section of the page', async () => {
    const text = (await explained('Truncated')).replace(/\s+/g, ' ');
    const { cause, evidence, broker, remedies, section } = CATALOGUE.Truncated;
    for (const part of [cause, evidence, broker, section, ...remedies.flatMap(({ what, loses }) => [what, loses])]) {
      expect(text).to.contain(part);
    }
  });

  it('gives the same as JSON, with positions as numbers and 64-bit values as text', async () => {
    const value = JSON.parse(await explained('--format', 'json', LINE)) as Record<string, unknown>;
    expect(value).to.deep.include({ schema: 'felix-fsck.explain/1', kind: 'RecordHeaderChecksum', group: 'Records' });
    expect(value['line']).to.deep.include({ shard: 'acme/default/orders/0', segment: '2', position: 426 });
  });

  it('gives a line for each kind and code as NDJSON', async () => {
    const lines = (await explained('--format', 'ndjson')).trim().split('\n');
    const types = lines.map((line) => (JSON.parse(line) as { type: string }).type);
    expect(types).to.deep.equal([...KINDS.map(() => 'kind'), ...EXIT_CODES.map(() => 'exit-code')]);
  });

  it('tells an exit code', async () => {
    expect(await explained('33')).to.match(/^Exit 33 +part-way\n/);
    expect(JSON.parse(await explained('33', '--format', 'json'))).to.deep.include({ code: 33, name: 'part-way' });
  });

  it('is wrong usage for what it does not know, with the kind that was meant', async () => {
    const { code, stdout, stderr } = await runCli(['explain', 'RecordChekcsum']);
    expect({ code, stdout }).to.deep.equal({ code: 2, stdout: '' });
    expect(stderr).to.match(/^felix-fsck: "RecordChekcsum" .*Did you mean RecordChecksum/);
  });

  it('shows no control character of what was pasted', async () => {
    const hostile = `${LINE.replace('acme', 'a\u001b[2J\u202e')}`;
    for (const args of [[hostile], ['--format', 'json', hostile]]) {
      expect(await explained(...args)).not.to.match(/[^\n\P{C}]/u);
    }
    const { stderr } = await runCli(['explain', 'x\u001b[2J']);
    expect(stderr).not.to.contain('\u001b');
  });
});
