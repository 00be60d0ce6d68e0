import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { runCli } from '../builders/run-cli.js';
import { attributesOf, tagsOf, textOf } from '../builders/tags.js';
import { hashTree, PROJECT_ROOT, withTempDir } from '../builders/trees.js';

const FIXTURE = path.join(PROJECT_ROOT, 'fixtures/flipped-bit-in-payload');

describe('verify --output, --report and --format prometheus', () => {
  it('write where they are told, say on standard output what is left to say, and change nothing of the store', () =>
    withTempDir(async (dir) => {
      const before = hashTree(FIXTURE);
      const [json, html] = [path.join(dir, 'out.json'), path.join(dir, 'out.html')];
      const run = await runCli(['verify', '--format', 'json', '--output', json, '--report', html, FIXTURE]);
      expect(run).to.include({ code: 21, stdout: '', stderr: '' });
      expect(JSON.parse(readFileSync(json, 'utf8')).summary.exitCode).to.equal(21);
      const page = readFileSync(html, 'utf8');
      expect(tagsOf(page)).to.include('article');
      const text = textOf(page);
      expect(text).to.include('the damage goes on up to byte 3640');
      expect(text).to.include('bit 5 flipped').and.to.include('payload_len = 300');
      expect(attributesOf(page).filter(({ attributes }) => attributes['class'] === 's-ink tick')).not.to.have.lengthOf(
        0,
      );
      expect(readdirSync(dir).sort()).to.deep.equal(['out.html', 'out.json']);
      expect(hashTree(FIXTURE)).to.deep.equal(before);
    }));

  it('metrics go to standard output like any other format', async () => {
    const { code, stdout } = await runCli(['verify', '--format', 'prometheus', FIXTURE]);
    expect(code).to.equal(21);
    expect(stdout).to.match(/^felix_fsck_shard_findings\{.*severity="error",kind="RecordChecksum"\} 1$/m);
    expect(stdout).to.match(/^felix_fsck_run_exit_code 21$/m);
  });

  it('a table in a file has no colours, unless they are asked for', () =>
    withTempDir(async (dir) => {
      const file = path.join(dir, 'out.txt');
      const env = { CLICOLOR_FORCE: '1' };
      await runCli(['verify', '--output', file, FIXTURE], { env });
      expect(readFileSync(file, 'utf8')).to.include('RecordChecksum').and.not.to.include('\u001b');
      await runCli(['verify', '--color', 'always', '--output', file, FIXTURE], { env });
      expect(readFileSync(file, 'utf8')).to.include('\u001b[');
    }));

  it('can be read by whom the umask lets, so that a collector can', () =>
    withTempDir(async (dir) => {
      const file = path.join(dir, 'fsck.prom');
      await runCli(['verify', '--format', 'prometheus', '--output', file, FIXTURE]);
      expect(statSync(file).mode & 0o777).to.equal(0o666 & ~process.umask());
    }));

  it('a wrong place is told before the check, and a wrong path leaves no file', () =>
    withTempDir(async (dir) => {
      const [shard = ''] = readdirSync(FIXTURE);
      const inside = path.join(FIXTURE, shard, 'report.html');
      const json = path.join(dir, 'out.json');
      const among = await runCli(['verify', '--output', json, '--report', inside, FIXTURE]);
      expect(among).to.include({ code: 2, stdout: '' });
      expect(among.stderr).to.include('its directory holds files of a store');
      expect((await runCli(['verify', '--output', json, path.join(dir, 'absent')])).code).to.equal(2);
      expect(readdirSync(dir)).to.deep.equal([]);
    }));
});
