/** A shell that has the script offers what the command at hand takes, and nothing else. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { COMMANDS } from '../../src/cli/command-table.js';
import { flagsOf } from '../../src/report/described-command.js';
import { runCli } from '../builders/run-cli.js';
import { PROJECT_ROOT, withTempDir } from '../builders/trees.js';

async function scriptFor(shell: string): Promise<string> {
  const { code, stdout, stderr } = await runCli(['completion', shell]);
  expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
  return stdout;
}

/** What bash offers for the last word of a command line, split as bash splits it for completion. */
function offered(script: string, words: readonly string[], cwd = PROJECT_ROOT): string[] {
  const program = `${script}
complete -p felix-fsck >&2
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_felix_fsck
printf '%s\\n' "\${COMPREPLY[@]}"`;
  const run = spawnSync('bash', ['--norc', '-c', program, 'bash', 'felix-fsck', ...words], { cwd, encoding: 'utf8' });
  expect(run.stderr).to.contain('complete -F _felix_fsck felix-fsck');
  expect(run.status).to.equal(0);
  return run.stdout.split('\n').filter((line) => line !== '');
}

describe('completion', () => {
  let bash = '';
  before(async () => {
    bash = await scriptFor('bash');
  });

  it('offers every command, and those that begin with what is typed', () => {
    expect(offered(bash, [''])).to.include.members([...COMMANDS.map(({ name }) => name), 'help', '--version']);
    expect(offered(bash, ['ver'])).to.deep.equal(['verify']);
    expect(offered(bash, ['help', 'expl'])).to.deep.equal(['explain']);
  });

  it('offers every option of the command, and none of another one', () => {
    for (const { name, options } of COMMANDS) {
      const flags = options.map((option) => flagsOf(option.flags)).flatMap(({ short, long }) => [short ?? long, long]);
      expect(offered(bash, [name, '-']), name).to.have.members([...new Set(flags), '--help']);
    }
  });

  it('offers the values of an option behind it, spelled with a space or an equals sign', () => {
    expect(offered(bash, ['explain', '--format', ''])).to.deep.equal(['table', 'json', 'ndjson']);
    expect(offered(bash, ['verify', '--format', '=', 'js'])).to.deep.equal(['json']);
    expect(offered(bash, ['verify', '--fail-on', '='])).to.deep.equal(['info', 'warning', 'error', 'fatal', 'never']);
    expect(offered(bash, ['verify', '--jobs', ''])).to.deep.equal([]);
  });

  it('offers paths where a path is taken, directories alone where it is one, and keeps spaces in them', async () => {
    await withTempDir((dir) => {
      mkdirSync(path.join(dir, 'data root'));
      writeFileSync(path.join(dir, 'data.log'), '');
      expect(offered(bash, ['verify', 'da'], dir)).to.have.members(['data root', 'data.log']);
      expect(offered(bash, ['verify', '--quick', 'da'], dir)).to.have.members(['data root', 'data.log']);
      expect(offered(bash, ['verify', '--replica', 'da'], dir)).to.deep.equal(['data root']);
    });
  });

  it('offers the words that an argument may be', () => {
    expect(offered(bash, ['explain', 'RecordH'])).to.deep.equal(['RecordHeaderChecksum']);
    expect(offered(bash, ['completion', ''])).to.deep.equal(['bash', 'zsh', 'fish']);
  });

  it('starts nothing: the script alone answers', async () => {
    for (const shell of ['bash', 'zsh', 'fish']) {
      expect(await scriptFor(shell), shell).not.to.match(/\$\(felix-fsck|`felix-fsck|node /);
    }
  });

  it('is wrong usage for another shell', async () => {
    const { code, stderr } = await runCli(['completion', 'tcsh']);
    expect(code).to.equal(2);
    expect(stderr).to.contain('bash, zsh, fish');
  });

  for (const shell of ['bash', 'zsh', 'fish']) {
    it(`is a script that ${shell} can read (skipped where it is not installed)`, async function () {
      if (spawnSync(shell, ['-c', 'true']).error !== undefined) return this.skip();
      const script = await scriptFor(shell);
      const { status, stderr } = await withTempDir((dir) => {
        writeFileSync(path.join(dir, 'script'), script);
        return spawnSync(shell, ['-n', path.join(dir, 'script')], { encoding: 'utf8' });
      });
      expect(stderr).to.equal('');
      expect(status).to.equal(0);
    });
  }

  it('offers the same in fish (skipped where it is not installed)', async function () {
    if (spawnSync('fish', ['-c', 'true']).error !== undefined) return this.skip();
    const script = await scriptFor('fish');
    const inFish = (line: string) => {
      const program = `${script}complete -C ${JSON.stringify(line)} | string split -f1 \\t`;
      return spawnSync('fish', ['--no-config', '-c', program], { encoding: 'utf8' }).stdout.trim().split('\n');
    };
    expect(inFish('felix-fsck ver')).to.deep.equal(['verify']);
    expect(inFish('felix-fsck explain --format ')).to.have.members(['table', 'json', 'ndjson']);
    expect(inFish('felix-fsck explain RecordH')).to.deep.equal(['RecordHeaderChecksum']);
    expect(inFish('felix-fsck verify --shard-')).to.deep.equal(['--shard-key']);
  });
});
