/** The manual pages are those that the generator makes, render without complaint, and cover every command and every finding. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { COMMANDS } from '../../src/cli/command-table.js';
import { CATALOGUE } from '../../src/domain/catalogue.js';
import { EXIT_CODES } from '../../src/domain/exit-codes.js';
import { LAYOUTS } from '../../src/report/man-storage.js';
import { unknownIn } from '../builders/documented.js';
import { MAN_DIR, manFiles } from '../builders/make-man.js';
import { PROJECT_ROOT } from '../builders/trees.js';

function pageText(name: string): string {
  return readFileSync(path.join(MAN_DIR, name), 'utf8');
}

/** Text of a page as it is read: without fonts and escapes. */
function readable(name: string): string {
  return unescaped(pageText(name).replace(/\\f[BIR]/g, ''));
}

function unescaped(text: string): string {
  return text
    .replace(/\\\(aq/g, "'")
    .replace(/\\-/g, '-')
    .replace(/\\&/g, '');
}

describe('manual pages', () => {
  it('are those that the generator makes (npm run man writes them)', () => {
    const files = manFiles();
    expect(readdirSync(MAN_DIR).sort()).to.deep.equal([...files.keys()].sort());
    for (const [name, text] of files) expect(pageText(name), name).to.equal(text);
  });

  it('are listed in package.json, so that an installation brings them', () => {
    const { man } = JSON.parse(readFileSync(path.join(PROJECT_ROOT, 'package.json'), 'utf8')) as { man: string[] };
    expect(man.toSorted()).to.deep.equal(
      readdirSync(MAN_DIR)
        .map((name) => `man/${name}`)
        .sort(),
    );
  });

  it('hold one for each command, with all its options and examples', () => {
    for (const { name, options, examples } of COMMANDS) {
      const text = readable(`felix-fsck-${name}.1`);
      for (const { flags } of options) expect(text, name).to.contain(/--[a-z-]+/.exec(flags)![0]);
      for (const { command } of examples) expect(text, name).to.contain(command.split('\n')[0]!);
      expect(readable('felix-fsck.1'), name).to.contain(`felix-fsck-${name}(1)`);
    }
  });

  it('tell every exit code', () => {
    const text = readable('felix-fsck.1');
    for (const { code } of EXIT_CODES) expect(text).to.match(new RegExp(`^\\.TP\\n${code}$`, 'm'));
  });

  it('have a heading for every kind of finding', () => {
    const text = pageText('felix-fsck-findings.7');
    for (const kind of Object.keys(CATALOGUE)) expect(text).to.contain(`.SS "${kind}"\n`);
  });

  it('show every field of every layout', () => {
    const text = readable('felix-storage.5');
    const tables = readdirSync(path.join(PROJECT_ROOT, 'src/format'))
      .map((name) => readFileSync(path.join(PROJECT_ROOT, 'src/format', name), 'utf8'))
      .flatMap((source) => source.match(/^export const \w+_LAYOUT = /gm) ?? []);
    expect(LAYOUTS).to.have.length(tables.length);
    for (const { title, items } of LAYOUTS) {
      expect(text).to.contain(`.SS "${title} (`);
      for (const item of items)
        if ('type' in item) expect(text, title).to.contain(`${item.name}: ${item.meaning.slice(0, 20)}`);
    }
  });

  it('call only commands and options that there are', () => {
    for (const name of readdirSync(MAN_DIR)) {
      const page = pageText(name);
      const typed = [...page.matchAll(/^\.EX\n([\s\S]*?)^\.EE$/gm), ...page.matchAll(/\\fB(.*?)\\fR/g)];
      const lines = typed.flatMap(([, text]) => unescaped(text!.replace(/ \\e\n\s*/g, ' ')).split('\n'));
      for (const line of lines) expect(unknownIn(line.replace(/[[\],]+/g, ' ')), `${name}: ${line}`).to.deep.equal([]);
    }
  });

  it('pass mandoc’s lint (skipped where mandoc is not installed)', function () {
    if (spawnSync('mandoc', ['-T', 'lint'], { input: '' }).error !== undefined) return this.skip();
    for (const name of readdirSync(MAN_DIR)) {
      const { stdout, stderr } = spawnSync('mandoc', ['-T', 'lint', path.join(MAN_DIR, name)], { encoding: 'utf8' });
      expect(stdout + stderr, name).to.equal('');
    }
  });
});
