/** Pieces of sentences, and words of a shell. */
import { expect } from 'chai';
import fc from 'fast-check';
import { shellJoined, shellPath, shellQuoted } from '../../src/domain/shell-words.js';
import {
  bytesOf,
  chanceWords,
  counted,
  grouped,
  lostWords,
  offsetsOf,
  printable,
  prose,
  quoted,
  sentenceOf,
} from '../../src/domain/wording.js';
import { hostile } from './finding-details.js';

describe('wording', () => {
  it('groups digits by three, and never rounds', () => {
    expect([0, 999, 1000, 4096, 1_234_567].map(grouped)).to.deep.equal(['0', '999', '1,000', '4,096', '1,234,567']);
    expect(grouped(18_446_744_073_709_551_615n)).to.equal('18,446,744,073,709,551,615');
  });

  it('puts one thing in the singular', () => {
    expect([0, 1, 2].map(bytesOf)).to.deep.equal(['0 bytes', '1 byte', '2 bytes']);
    expect(counted(1n, 'entry', 'entries')).to.equal('1 entry');
    expect(counted(2n, 'entry', 'entries')).to.equal('2 entries');
  });

  it('prints ranges half-open, and one offset alone', () => {
    expect(offsetsOf({ from: 16n, to: 17n })).to.equal('offset 16');
    expect(offsetsOf({ from: 16n, to: 19n })).to.equal('offsets 16..19');
    expect(lostWords({ from: 16n, to: 16n })).to.equal('no record lost');
    expect(lostWords(null)).to.equal('how many records are lost is not known');
  });

  it('says a chance as one in so many', () => {
    expect(chanceWords(0.5)).to.equal('about 1 in 2');
    expect(chanceWords(1e-20)).to.match(/^about 1 in 1\.0e\+20$/);
    expect([0, -1, Number.NaN].map(chanceWords)).to.deep.equal(['next to none', 'next to none', 'next to none']);
    expect(chanceWords(7)).to.equal('about 1 in 1');
  });

  it('escapes what a terminal would act on, hide or turn around, and nothing else', () => {
    expect(printable('a\u001b[31m\u0085\u202e\u200b\u2028\ud800z')).to.equal(
      'a\\x1b[31m\\x85\\u{202e}\\u{200b}\\u{2028}\\u{d800}z',
    );
    expect(printable('Grüße, 世界 ☂ \\ "x"')).to.equal('Grüße, 世界 ☂ \\ "x"');
  });

  it('leaves nothing unprintable of any text, and passes its own result unchanged', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(printable(text)).to.match(/^[^\p{C}\p{Zl}\p{Zp}]*$/u);
        expect(printable(printable(text))).to.equal(printable(text));
      }),
    );
  });

  it('cuts long text and says how long it is', () => {
    expect(quoted('abc', 3)).to.equal('"abc"');
    expect(quoted('abcd', 3)).to.equal('"abc…" (4 characters)');
    expect(quoted('x'.repeat(65_535), 3)).to.equal('"xxx…" (65,535 characters)');
  });

  it('joins clauses to one sentence', () => {
    expect(sentenceOf('One', null, 'two\n')).to.equal('One; two\\x0a.');
    expect(prose`one
      two ${'three'}`).to.equal('one two three');
  });
});

describe('shell words', () => {
  it('leaves plain paths alone, and quotes the rest', () => {
    expect(shellQuoted('/var/lib/felix/a_0-0d3aed4b998d2798')).to.equal('/var/lib/felix/a_0-0d3aed4b998d2798');
    expect(shellQuoted("it's $(here)")).to.equal("'it'\\''s $(here)'");
    expect(shellQuoted('')).to.equal("''");
    expect(shellQuoted("a\n\\'\u202e")).to.equal("$'a\\x0a\\\\\\'\\xe2\\x80\\xae'");
    expect(shellQuoted('~')).to.equal("'~'");
  });

  it('lets no path be taken for an option', () => {
    expect(shellPath('-rf')).to.equal('./-rf');
    expect(shellPath('--from x')).to.equal("'./--from x'");
  });

  it('joins a quoted directory and a name to one word', () => {
    expect(shellJoined('shard/', 'a b')).to.equal("shard/'a b'");
    expect(shellJoined("'a b'", 'replica')).to.equal("'a b'/replica");
  });
});
