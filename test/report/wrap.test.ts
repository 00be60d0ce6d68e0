import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import fc from 'fast-check';
import { renderColumns } from '../../src/report/columns.js';
import { displayWidth, opposite, wrap, wrapCommand } from '../../src/report/wrap.js';

const LOREM = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '/', '漢', 'é', '_'), maxLength: 200 });

describe('report/wrap', () => {
  it('never goes beyond the width and loses no character but spaces', () => {
    fc.assert(
      fc.property(LOREM, fc.integer({ min: 16, max: 120 }), (text, width) => {
        const lines = wrap(text, width, { first: '- ', rest: '    ' });
        for (const line of lines) expect(displayWidth(line)).to.be.at.most(width);
        expect(lines.join('').replace(/^- ?/, '').replaceAll(' ', '')).to.equal(text.replaceAll(' ', ''));
        for (const line of lines) expect(line).to.equal(line.trimEnd());
      }),
    );
  });

  it('counts wide characters as two columns, marks that combine as none, and colours as none', () => {
    expect(displayWidth('漢字')).to.equal(4);
    expect(displayWidth('e\u0301')).to.equal(1);
    expect(displayWidth('\u001b[31mred\u001b[39m')).to.equal(3);
    expect(displayWidth('🙂')).to.equal(2);
  });

  it('breaks a long path behind a slash', () => {
    expect(wrap('/var/lib/felix/data/acme_default_orders_0', 30)).to.deep.equal([
      '/var/lib/felix/data/',
      'acme_default_orders_0',
    ]);
  });

  it('wraps commands so that a shell joins them again', function () {
    const words = [
      'printf',
      "'%s|'",
      '--allow',
      '/var/lib/felix/data/acme_default_orders_0-0d3aed4b998d2798',
      "'a b  c'",
    ];
    const command = words.join(' ');
    for (const width of [32, 40, 60, 80]) {
      const lines = wrapCommand(command, width, { rest: '        ' });
      for (const line of lines) expect(displayWidth(line)).to.be.at.most(width);
      const shell = spawnSync('sh', ['-c', lines.join('\n')], { encoding: 'utf8' });
      if (shell.error !== undefined) this.skip();
      expect(shell.stdout).to.equal('--allow|/var/lib/felix/data/acme_default_orders_0-0d3aed4b998d2798|a b  c|');
    }
  });

  it('closes a quote in front of a break, and opens it again behind', function () {
    const words = [
      "'/mnt/old disk/felix/acme_default_orders_0-0d3aed4b998d2798/ends in  spaces   '",
      "$'/mnt/bell \\x07\\x0a rings/it\\'s/acme_default_orders_0-0d3aed4b998d2798'",
      "it'\\''s a place'/with/all/of/it/'under one roof'",
    ];
    const bash = (script: string) => spawnSync('bash', ['-c', script], { encoding: 'utf8' });
    for (const word of words) {
      const whole = bash(`printf '%s|' ${word}`);
      if (whole.error !== undefined) this.skip();
      expect(whole.stderr).to.equal('');
      for (let width = 16; width <= 90; width += 9) {
        const lines = wrapCommand(`printf '%s|' ${word}`, width, { first: '', rest: '        ' });
        for (const line of lines) expect(displayWidth(line)).to.be.at.most(width);
        expect(bash(lines.join('\n')).stdout, lines.join('\n')).to.equal(whole.stdout);
      }
    }
  });

  it('sets two texts against both edges, or the second below the first', () => {
    expect(opposite('left', 'right', 20)).to.deep.equal(['left           right']);
    expect(opposite('left', 'a longer right side', 20, { rest: '  ' })).to.deep.equal([
      'left',
      '  a longer right',
      '  side',
    ]);
  });
});

describe('report/columns', () => {
  const columns = [
    { title: 'name', align: 'left', leads: true },
    { title: 'bytes', align: 'right' },
    { title: 'note', align: 'left' },
  ] as const;

  it('aligns, without a border, a colour or a space at the end', () => {
    expect(
      renderColumns(
        columns,
        [
          ['a', '1,000', ''],
          ['bcd', '7', 'fine'],
        ],
        { width: 40 },
      ),
    ).to.deep.equal(['name  bytes  note', 'a     1,000', 'bcd       7  fine']);
  });

  it('wraps the last column when that is enough to fit', () => {
    expect(renderColumns(columns, [['a', '1', 'a note that is too long']], { width: 30 })).to.deep.equal([
      'name  bytes  note',
      'a         1  a note that is',
      '             too long',
    ]);
  });

  it('turns rows into paragraphs when the columns do not fit', () => {
    const rows = [['a-name-that-takes-all-the-room', '1', 'note']];
    expect(renderColumns(columns, rows, { width: 40 })).to.deep.equal([
      'name a-name-that-takes-all-the-room:',
      '  bytes 1, note note',
    ]);
  });

  it('draws ten thousand rows in the same columns, and in reasonable time', () => {
    const rows = Array.from({ length: 10_000 }, (_, at) => [`${at}`, `${at * 7}`, 'x']);
    const started = performance.now();
    const lines = renderColumns(columns, rows, { width: 80 });
    expect(performance.now() - started).to.be.below(8_000);
    expect(lines).to.have.length(10_001);
    expect(new Set(lines.slice(1).map((line) => line.length)).size).to.equal(1);
  });

  it('does not cut a cell of wide characters', () => {
    const lines = renderColumns(columns, [['漢字', '1', '🙂 é e\u0301']], { width: 40 });
    expect(lines[1]).to.include('漢字').and.to.include('🙂 é e\u0301');
  });
});
