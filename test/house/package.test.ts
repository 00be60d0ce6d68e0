/** What `npm pack` would ship: all that the tool needs, and nothing of the workshop. */

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { PROJECT_ROOT, withTempDir } from '../builders/trees.js';

function filesBelow(...names: string[]): string[] {
  return names.flatMap((name) =>
    readdirSync(join(PROJECT_ROOT, name), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(PROJECT_ROOT.length)),
  );
}

describe('the package', function () {
  this.timeout(60_000);

  it('holds the tool, its manual, its fixtures and its papers, and nothing else', () => {
    const { stdout, stderr } = npm(['pack', '--dry-run', '--json', '--ignore-scripts'], PROJECT_ROOT);
    const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }];
    const expected = [
      ...['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json'],
      ...filesBelow('bin', 'dist/bundle', 'fixtures', 'man'),
    ];
    expect(files.map(({ path }) => path).sort(), stderr).to.deep.equal(expected.sort());
    expect(expected.filter((path) => /\.(?:ts|map|tsbuildinfo)$|(?:^|\/)test\//.test(path))).to.deep.equal([]);
  });

  it('hands on the licence of every package whose code it contains', () => {
    const { dependencies } = JSON.parse(readFileSync(join(PROJECT_ROOT, 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>;
    };
    const notices = readFileSync(join(PROJECT_ROOT, 'dist', 'bundle', 'THIRD-PARTY-NOTICES.txt'), 'utf8');
    for (const [name, version] of Object.entries(dependencies)) {
      const folder = join(PROJECT_ROOT, 'node_modules', name);
      const licence = readdirSync(folder).find((file) => /^licen[cs]e$/i.test(file));
      expect(notices).to.contain(`\n${name} ${version} (`);
      expect(notices).to.contain(readFileSync(join(folder, licence!), 'utf8').trim());
    }
  });

  it('runs from where it is unpacked, with no other package beside it', () =>
    withTempDir((directory) => {
      const packed = npm(['pack', '--json', '--ignore-scripts', '--pack-destination', directory], PROJECT_ROOT);
      const [{ filename }] = JSON.parse(packed.stdout) as [{ filename: string }];
      expect(spawnSync('tar', ['xf', filename], { cwd: directory }).status).to.equal(0);
      const options = { cwd: join(directory, 'package'), encoding: 'utf8', env: {} } as const;
      const args = ['bin/felix-fsck.js', 'verify', 'fixtures/zero-tail'];
      const { status, stdout, stderr } = spawnSync(process.execPath, args, options);
      expect(stderr).to.equal('');
      expect(stdout).to.contain('A broker with default settings REFUSES to open this shard');
      expect(status).to.equal(22);
    }));
});

function npm(args: readonly string[], cwd: string): { readonly stdout: string; readonly stderr: string } {
  const { stdout, stderr, status } = spawnSync('npm', args, { cwd, encoding: 'utf8' });
  expect(status, stderr).to.equal(0);
  return { stdout, stderr };
}
