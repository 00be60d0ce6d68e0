/** A page shows every character of its text, and no text of it is taken for a request. */
import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import fc from 'fast-check';
import { type Block, type ManPage, renderRoff } from '../../src/report/roff.js';

const IMPRINT = { date: '2026-11-29', source: 'tool 1', manual: 'Manual' };

function pageOf(...blocks: Block[]): ManPage {
  return { name: 'a-page', section: 7, purpose: 'what it is', sections: [{ title: 'Description', blocks }] };
}

function bodyOf(...blocks: Block[]): string[] {
  const lines = renderRoff(pageOf(...blocks), IMPRINT).split('\n');
  return lines.slice(lines.indexOf('.SH "DESCRIPTION"') + 1, -1);
}

const REQUESTS = /^(?:\.(?:PP|IP|TP|SS|SH|EX|EE|RS|RE|TS|TE|TH)(?: |$)|'\\" t$)/;

describe('roff', () => {
  it('begins with the name, the section and the imprint, and says in one line what it is', () => {
    expect(renderRoff(pageOf(), IMPRINT)).to.equal(
      '.TH "A-PAGE" "7" "2026-11-29" "tool 1" "Manual"\n.SH NAME\na-page \\- what it is\n.SH "DESCRIPTION"\n',
    );
  });

  it('keeps what a shell has to read: hyphens, quotes, carets, tildes and backslashes', () => {
    expect(bodyOf({ is: 'lines', lines: ["a --b 'c' `d` ^e ~f \\", '.g'] })).to.deep.equal([
      '.EX',
      'a \\-\\-b \\(aqc\\(aq \\(gad\\(ga \\(hae \\(tif \\e',
      '\\&.g',
      '.EE',
    ]);
  });

  it('sets options and what is between backticks apart, and leaves a hyphen within a word', () => {
    expect(bodyOf({ is: 'text', text: 'Run `a --b` with --fail-on or (-q), a well-known 64-bit way.' })).to.deep.equal([
      'Run \\fBa \\-\\-b\\fR with \\-\\-fail\\-on or (\\-q), a well-known 64-bit way.',
    ]);
  });

  it('names characters beyond ASCII, and shows no control character', () => {
    expect(bodyOf({ is: 'text', text: 'it’s “é” \u001b[2J\u0007' })).to.deep.equal([
      'it\\(cqs \\(lq\\[u00E9]\\(rq  [2J ',
    ]);
  });

  it('breaks lines of source between words, and never begins one with a dot or a quote', () => {
    const lines = bodyOf({ is: 'text', text: `${'word '.repeat(30)}.SH 'x` });
    for (const line of lines) {
      expect(line.length).to.be.at.most(80);
      expect(line).not.to.match(/^[.']/);
    }
  });

  it('lets no text become a request', () => {
    const nasty = fc
      .array(
        fc.oneof(fc.constantFrom('.SH', "'br", '\n', '\n.so /etc/passwd', '\\', '"', '`', '\t', 'T}'), fc.string()),
      )
      .map((parts) => parts.join(' '));
    fc.assert(
      fc.property(nasty, nasty, (a, b) => {
        const text = renderRoff(
          {
            name: 'x',
            section: 1,
            purpose: a,
            sections: [
              {
                title: b,
                blocks: [
                  { is: 'text', text: a },
                  { is: 'heading', text: b },
                  { is: 'lines', lines: [a, b] },
                  { is: 'terms', terms: [{ term: a, text: b, more: [{ is: 'lines', lines: [a] }] }] },
                  { is: 'steps', steps: [[{ is: 'text', text: b }]] },
                  { is: 'table', titles: ['t'], rows: [[a], [b]] },
                ],
              },
            ],
          },
          IMPRINT,
        );
        for (const line of text.split('\n')) if (/^[.']/.test(line)) expect(line).to.match(REQUESTS);
      }),
      { numRuns: 200 },
    );
  });

  it('shows in groff or mandoc what was put in (skipped where neither is installed)', function () {
    const page = renderRoff(
      pageOf(
        { is: 'text', text: 'a `bold --word` – and “quotes”.' },
        { is: 'lines', lines: ["x --y 'z' \\ ~ ^ `"] },
        {
          is: 'table',
          titles: ['at', 'what'],
          rows: [
            ['0', 'first'],
            ['.4', "'second"],
          ],
        },
      ),
      IMPRINT,
    );
    const tools: [string, string[]][] = [
      ['mandoc', ['-T', 'ascii']],
      ['groff', ['-man', '-t', '-Tascii', '-P', '-c']],
    ];
    const shown = tools.map(([tool, args]) => spawnSync(tool, args, { input: page, encoding: 'utf8' }));
    const ran = shown.filter(({ error }) => error === undefined);
    if (ran.length === 0) return this.skip();
    for (const { stdout } of ran) {
      const plain = stdout.replace(/.\u0008/g, '').replace(/\u001b\[[0-9;]*m/g, '');
      for (const text of ["x --y 'z' \\ ~ ^ `", 'bold --word', '.4', "'second"]) expect(plain).to.contain(text);
    }
  });
});
