/** The commands that change a shard, as an operator and a script meet them. */
import { readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { expect } from 'chai';
import { main } from '../../src/cli/main.js';
import { journalsBeside } from '../../src/store/journals.js';
import { blankFirst, tornEverywhere, tornTail, twoIndexes } from '../builders/broken-shards.js';
import { runInProcess } from '../builders/in-process.js';
import { applied, killedAt, planFor, requestWith, withMemoryDir } from '../builders/repairs.js';
import { runCli } from '../builders/run-cli.js';
import { indexName, SHARD_DIR_NAME, threeSegments, writeShardBelow } from '../builders/shards.js';
import { hashTree, PROJECT_ROOT } from '../builders/trees.js';

/** A broken shard whose files were last written long ago. */
function onDisk(work: (shard: string, dir: string) => Promise<void>, { image } = tornTail()): Promise<void> {
  return withMemoryDir(async (dir) => {
    const shard = writeShardBelow(image, dir);
    for (const name of readdirSync(shard)) utimesSync(path.join(shard, name), 1_700_000_000, 1_700_000_000);
    await work(shard, dir);
  });
}

function content(shard: string): object {
  return hashTree(shard, { directoryTimes: false });
}

describe('a repair from the command line', () => {
  it('is planned without changing a byte, and says so with exit code 20', () =>
    onDisk(async (shard, dir) => {
      const before = hashTree(dir);
      const { code, stdout } = await runInProcess(['repair-tail', shard]);
      expect(code).to.equal(20);
      expect(stdout).to.contain('nothing has been changed').and.contain('Lost: no record');
      expect(hashTree(dir)).to.deep.equal(before);
    }));

  it('goes through a plan in a file, apply and undo', () =>
    onDisk(async (shard, dir) => {
      const before = content(shard);
      const file = path.join(dir, 'plan.json');
      expect((await runInProcess(['repair-tail', shard, '--plan-out', file])).code).to.equal(20);
      expect(statSync(file).mode & 0o777).to.equal(0o600);
      const done = await runInProcess(['apply', file, '--yes']);
      expect(done.code, done.stderr).to.equal(0);
      expect(done.stdout).to.contain('Checked again: a broker opens this shard, next offset 20, as planned');
      expect((await runInProcess(['verify', shard])).code).to.equal(0);
      const [journal] = journalsBeside(shard);
      const receipt = JSON.parse(readFileSync(path.join(journal!.path, 'receipt.json'), 'utf8'));
      expect(receipt).to.deep.include({ schema: 'felix-fsck.receipt/1', command: 'repair-tail', asPlanned: true });
      expect(receipt.who.uid).to.equal(process.geteuid!());
      expect((await runInProcess(['apply', file, '--yes'])).code).to.equal(31);
      const back = await runInProcess(['undo', journal!.path, '--yes']);
      expect([back.code, back.stderr.replace(/.*note:.*\n/, '')]).to.deep.equal([0, '']);
      expect(content(shard)).to.deep.equal(before);
    }));

  it('is not begun on a directory, where the file of a plan is meant', () =>
    onDisk(async (shard) => {
      const { code, stderr } = await runInProcess(['apply', shard, '--yes']);
      expect([code, stderr]).to.deep.equal([
        2,
        `felix-fsck: ${shard}: a directory: name the file of a plan, or a journal to finish with --resume\n`,
      ]);
    }));

  it('prints a plan as JSON that apply takes', () =>
    onDisk(async (shard, dir) => {
      const { stdout } = await runInProcess(['repair-tail', shard, '--format', 'json']);
      writeFileSync(path.join(dir, 'plan'), stdout);
      const { code, stdout: receipt } = await runInProcess([
        'apply',
        path.join(dir, 'plan'),
        '--yes',
        '--format',
        'json',
      ]);
      expect(code).to.equal(0);
      expect(JSON.parse(receipt)).to.deep.include({ asPlanned: true });
    }));

  it('can be applied at once, under the same rules', () =>
    onDisk(async (shard) => {
      const asked = await runInProcess(['rebuild-index', shard, '--apply']);
      expect(asked.code).to.equal(31);
      expect(asked.stderr).to.contain('nobody to ask');
      expect((await runInProcess(['rebuild-index', shard, '--apply', '--yes'])).code).to.equal(0);
      expect(statSync(path.join(shard, indexName(0))).size).to.be.above(24);
      expect((await runInProcess(['rebuild-index', shard])).code).to.equal(0);
    }, twoIndexes()));

  it('works in a process of its own', () =>
    onDisk(async (shard) => {
      const { code, stdout, stderr } = await runCli(['repair-tail', shard, '--apply', '--yes']);
      expect(code, stderr).to.equal(0);
      expect(stdout).to.contain('To take it back: felix-fsck undo');
    }));

  it('is not applied to files that were written to just now', () =>
    withMemoryDir(async (dir) => {
      const shard = writeShardBelow(tornTail().image, dir);
      const { code, stderr } = await runInProcess(['repair-tail', shard, '--apply', '--yes']);
      expect(code).to.equal(31);
      expect(stderr).to.contain('within the last 5 seconds');
    }));

  it('begins a blank log anew, which verify then finds sound', () =>
    onDisk(async (shard) => {
      expect((await runInProcess(['repair-tail', shard, '--apply', '--yes'])).code).to.equal(0);
      expect((await runInProcess(['verify', shard])).code).to.equal(0);
    }, blankFirst()));

  it('does not write a plan into the shard', () =>
    onDisk(async (shard) => {
      const { code } = await runInProcess(['repair-tail', shard, '--plan-out', path.join(shard, 'plan.json')]);
      expect(code).to.equal(2);
    }));

  it('looks at every shard of a data root, one plan each', () =>
    withMemoryDir(async (dir) => {
      writeShardBelow(twoIndexes().image, dir);
      writeShardBelow(threeSegments().image, path.join(dir, 'caches'));
      const { code, stdout } = await runInProcess(['rebuild-index', dir]);
      expect(code).to.equal(20);
      expect(stdout.match(/rebuild-index plans/g)).to.have.length(1);
    }));

  it('takes a segment or an index for the one that is meant', () =>
    onDisk(async (shard) => {
      const { stdout } = await runInProcess(['rebuild-index', path.join(shard, indexName(1)), '--format', 'json']);
      const files = JSON.parse(stdout).steps.map(({ file }: { file: string }) => file);
      expect(files).to.deep.equal([indexName(1)]);
    }, twoIndexes()));

  it('knows wrong usage', () =>
    onDisk(async (shard) => {
      for (const args of [
        ['repair-tail', path.join(PROJECT_ROOT, 'man')],
        ['repair-tail', path.join(PROJECT_ROOT, 'fixtures', 'diverged-replicas')],
        ['repair-tail', `${shard}-none`],
        ['repair-tail', shard, '--allow', 'everything'],
        ['rebuild-index', shard, '--all', '--segment', '1'],
        ['rebuild-index', shard, '--segment', 'x'],
        ['apply', path.join(shard, 'no-plan')],
        ['undo', path.join(shard, 'no-journal')],
      ]) {
        expect((await runInProcess(args)).code, args.join(' ')).to.equal(2);
      }
    }));
});

describe('a repair that was cut short', () => {
  async function cutShort(shard: string, command: readonly string[]): Promise<string> {
    const plan = await planFor(...command, shard);
    expect(() => applied(plan, requestWith(killedAt(60)))).to.throw();
    return journalsBeside(shard)[0]!.path;
  }

  it('is finished by apply --resume on its journal', () =>
    onDisk(async (shard) => {
      const journal = await cutShort(shard, tornEverywhere().command);
      const { code, stderr } = await runInProcess(['apply', '--resume', journal, '--yes']);
      expect(code, stderr).to.equal(0);
      expect(journalsBeside(shard).map(({ state }) => state)).to.deep.equal(['applied']);
    }, tornEverywhere()));

  it('is finished by apply --resume on its plan', () =>
    onDisk(async (shard) => {
      const journal = await cutShort(shard, tornEverywhere().command);
      const { code, stderr } = await runInProcess(['apply', '--resume', path.join(journal, 'plan.json'), '--yes']);
      expect(code, stderr).to.equal(0);
    }, tornEverywhere()));

  it('is taken back by undo', () =>
    onDisk(async (shard) => {
      const before = content(shard);
      const journal = await cutShort(shard, tornEverywhere().command);
      expect((await runInProcess(['undo', journal, '--yes'])).code).to.equal(0);
      expect(content(shard)).to.deep.equal(before);
      expect((await runInProcess(['apply', '--resume', journal, '--yes'])).code).to.equal(31);
    }, tornEverywhere()));

  it('is told by verify, with the commands for both ways', () =>
    onDisk(async (shard) => {
      const journal = await cutShort(shard, tornEverywhere().command);
      const { code, stdout } = await runInProcess(['verify', shard, '--format', 'json']);
      const findings = JSON.parse(stdout).shards[0].findings as {
        kind: string;
        path: string;
        next: string;
        severity: string;
      }[];
      const found = findings.find(({ path: at }) => at === journal)!;
      expect(found).to.deep.include({ kind: 'StrayFile', severity: 'warning' });
      expect(found.next).to.equal(`felix-fsck apply --resume ${journal}`);
      expect(code).to.be.at.least(20);
      expect((await runInProcess(['verify', shard, '--quiet'])).stdout).to.contain('not finished');
      await runInProcess(['undo', journal, '--yes']);
      const after = JSON.parse((await runInProcess(['verify', shard, '--format', 'json'])).stdout);
      expect(after.shards[0].findings.some(({ path: at }: { path: string }) => at === journal)).to.equal(false);
    }, tornEverywhere()));

  it('is not resumed when there is nothing to finish', () =>
    onDisk(async (shard, dir) => {
      const file = path.join(dir, 'plan.json');
      await runInProcess(['repair-tail', shard, '--plan-out', file]);
      expect((await runInProcess(['apply', '--resume', file, '--yes'])).code).to.equal(31);
    }));
});

describe('the question before a shard is changed', () => {
  /** Runs with a person at the terminal, who types `typed`. */
  async function answering(args: readonly string[], typed: string): Promise<{ code: number; asked: string }> {
    const stdin = Object.assign(new PassThrough(), { isTTY: true });
    let asked = '';
    const quiet = new Writable({ write: (_chunk, _encoding, done) => done() });
    const stderr = Object.assign(
      new Writable({
        write: (chunk: Buffer, _encoding, done) => {
          asked += chunk.toString();
          if (asked.includes('type its name') && !stdin.writableEnded) stdin.end(typed);
          done();
        },
      }),
      { isTTY: true },
    );
    const code = await main(args, { stdin, stdout: quiet, stderr });
    return { code, asked };
  }

  it("takes the shard's name, and nothing else: not a yes, not an empty line, not the end of input", () =>
    onDisk(async (shard) => {
      const before = content(shard);
      for (const typed of ['yes\n', '\n', '', `${SHARD_DIR_NAME.slice(1)}\n`]) {
        const { code, asked } = await answering(['repair-tail', shard, '--apply'], typed);
        expect(code, JSON.stringify(typed)).to.equal(31);
        expect(asked).to.contain(`type its name (${SHARD_DIR_NAME})`);
        expect(content(shard)).to.deep.equal(before);
      }
      expect((await answering(['repair-tail', shard, '--apply'], `${SHARD_DIR_NAME}\n`)).code).to.equal(0);
      expect(content(shard)).to.not.deep.equal(before);
    }));
});
