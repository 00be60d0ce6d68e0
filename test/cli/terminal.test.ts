/** Colour and width follow what the operator said, then the environment, then the stream, in that order. */
import { PassThrough, type Writable } from 'node:stream';
import { expect } from 'chai';
import type { ColorChoice } from '../../src/cli/context.js';
import { isTerminal, styleFor } from '../../src/cli/terminal.js';
import { runCli } from '../builders/run-cli.js';
import { PROJECT_ROOT } from '../builders/trees.js';

const TERMINAL = Object.assign(new PassThrough(), { isTTY: true, columns: 100 });
const PIPE = new PassThrough();

function colored(stream: Writable, choice: ColorChoice, env: Record<string, string>): boolean {
  return styleFor(stream, choice, env).color > 0;
}

describe('colour', () => {
  it('is there on a terminal, and not off it', () => {
    expect(colored(TERMINAL, 'auto', {})).to.equal(true);
    expect(colored(PIPE, 'auto', {})).to.equal(false);
    expect([TERMINAL, PIPE].map(isTerminal)).to.deep.equal([true, false]);
  });

  it('goes with NO_COLOR that is not empty, whatever else is set', () => {
    expect(colored(TERMINAL, 'auto', { NO_COLOR: '1' })).to.equal(false);
    expect(colored(TERMINAL, 'auto', { NO_COLOR: '0' })).to.equal(false);
    expect(colored(TERMINAL, 'auto', { NO_COLOR: '' })).to.equal(true);
    expect(colored(TERMINAL, 'auto', { NO_COLOR: '1', CLICOLOR_FORCE: '1' })).to.equal(false);
  });

  it('comes with CLICOLOR_FORCE off a terminal too, unless it is 0', () => {
    expect(colored(PIPE, 'auto', { CLICOLOR_FORCE: '1' })).to.equal(true);
    expect(colored(PIPE, 'auto', { CLICOLOR_FORCE: '0' })).to.equal(false);
    expect(colored(PIPE, 'auto', { CLICOLOR_FORCE: '' })).to.equal(false);
    expect(colored(TERMINAL, 'auto', { CLICOLOR_FORCE: '0' })).to.equal(true);
  });

  it('goes on a terminal that has none, or with CLICOLOR=0', () => {
    expect(colored(TERMINAL, 'auto', { TERM: 'dumb' })).to.equal(false);
    expect(colored(TERMINAL, 'auto', { CLICOLOR: '0' })).to.equal(false);
    expect(colored(TERMINAL, 'auto', { CLICOLOR: '1', TERM: 'xterm' })).to.equal(true);
  });

  it('follows the option over every variable', () => {
    expect(colored(PIPE, 'always', { NO_COLOR: '1', TERM: 'dumb' })).to.equal(true);
    expect(colored(TERMINAL, 'never', { CLICOLOR_FORCE: '1' })).to.equal(false);
  });

  it('reaches the output of a command as the environment says', async () => {
    const args = ['verify', '--jobs', '1', `${PROJECT_ROOT}/fixtures/zero-tail`];
    const escapes = async (extra: string[], env: Record<string, string>) =>
      (await runCli([...args, ...extra], { env })).stdout.includes('\u001b[');
    expect(await escapes([], {})).to.equal(false);
    expect(await escapes([], { CLICOLOR_FORCE: '1' })).to.equal(true);
    expect(await escapes([], { CLICOLOR_FORCE: '1', NO_COLOR: '1' })).to.equal(false);
    expect(await escapes(['--color', 'always'], { NO_COLOR: '1' })).to.equal(true);
  });
});

describe('width', () => {
  it('is the terminal’s, else that of COLUMNS, else 80', () => {
    expect(styleFor(TERMINAL, 'auto', { COLUMNS: '60' }).width).to.equal(100);
    expect(styleFor(PIPE, 'auto', { COLUMNS: '60' }).width).to.equal(60);
    expect(styleFor(PIPE, 'auto', {}).width).to.equal(80);
  });

  it('is 80 where what is said is no width: a terminal of 0 columns, or text', () => {
    const zero = Object.assign(new PassThrough(), { isTTY: true, columns: 0 });
    expect(styleFor(zero, 'auto', {}).width).to.equal(80);
    for (const columns of ['', '0', '-5', 'wide', '1.5']) {
      expect(styleFor(PIPE, 'auto', { COLUMNS: columns }).width, columns).to.equal(80);
    }
  });

  it('holds for every line of a report but a command that has to be pasted', async () => {
    for (const width of ['60', '100']) {
      const { stdout } = await runCli(['explain', 'RecordHeaderChecksum'], { env: { COLUMNS: width } });
      for (const line of stdout.split('\n')) expect(line.length, line).to.be.at.most(Number(width));
    }
  });
});

describe('characters', () => {
  it('are ASCII alone where the first locale that is set is not UTF-8', () => {
    const unicode = (env: Record<string, string>) => styleFor(PIPE, 'auto', env).unicode;
    expect(unicode({})).to.equal(true);
    expect(unicode({ LANG: 'de_DE.UTF-8' })).to.equal(true);
    expect(unicode({ LANG: 'C' })).to.equal(false);
    expect(unicode({ LANG: 'C', LC_ALL: 'C.utf8' })).to.equal(true);
    expect(unicode({ LANG: 'C.UTF-8', LC_CTYPE: 'POSIX' })).to.equal(false);
    expect(unicode({ LANG: 'C.UTF-8', LC_ALL: '' })).to.equal(true);
  });

  it('are ASCII in what explain prints then', async () => {
    const { stdout } = await runCli(['explain', 'UncleanStop'], { env: { LC_ALL: 'C' } });
    expect(stdout).to.match(/^[\n -~]+$/);
    expect(stdout).to.contain('"storage-id and run-state');
  });
});
