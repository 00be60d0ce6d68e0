/** The exit codes are the contract's, each with words of its own. */
import { expect } from 'chai';
import { EXIT_CODE_PRECEDENCE, EXIT_CODES } from '../../src/domain/exit-codes.js';

describe('exit codes', () => {
  it('are those of the contract, in ascending order', () => {
    expect(EXIT_CODES.map(({ code }) => code)).to.deep.equal([0, 1, 2, 20, 21, 22, 30, 31, 33, 130, 143]);
  });

  it('have a name and texts of their own, one line each', () => {
    expect(new Set(EXIT_CODES.map(({ name }) => name)).size).to.equal(EXIT_CODES.length);
    for (const { code, name, when, whatNext } of EXIT_CODES) {
      expect(name, String(code)).to.match(/^[a-z-]+$/);
      for (const text of [when, whatNext]) expect(text, String(code)).to.match(/^[A-Za-z][^\p{C}]+\.$/u);
    }
  });

  it('rank a bug of the tool over anything it said, and what is clean last', () => {
    expect(EXIT_CODE_PRECEDENCE).to.deep.equal([1, 33, 22, 21, 30, 31, 20, 0]);
  });
});
