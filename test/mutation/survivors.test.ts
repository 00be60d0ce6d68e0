import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { judgeMutants, type MutationReport, type ReportedMutant, readSurvivors } from './survivors.js';

const SOURCE = 'function f(n) {\n    return n < 4 && n < 9;\n}\n';
const FIRST = { start: { line: 2, column: 12 }, end: { line: 2, column: 17 } };
const SECOND = { start: { line: 2, column: 21 }, end: { line: 2, column: 26 } };
const NAMED = {
  file: 'scan/a',
  mutator: 'EqualityOperator',
  line: 'return n < 4 && n < 9;',
  original: 'n < 4',
  replacement: 'n <= 4',
};

const NAMES = readSurvivors(new URL('../../../test/mutation/survivors/', import.meta.url));

describe('mutants that survive', () => {
  it('are known by what was replaced, not by the line that it stands in alone', () => {
    const report = reportOf(mutant(FIRST, 'n <= 4', 'Survived'), mutant(SECOND, 'n <= 4', 'Survived'));
    const { unnamed, survived } = judgeMutants(report, [{ reason: 'it is 4 nowhere', mutants: [NAMED] }]);
    expect(unnamed).to.deep.equal([{ ...NAMED, original: 'n < 9' }]);
    expect(survived).to.equal(2);
  });

  it('count as surviving when no test runs them', () => {
    expect(judgeMutants(reportOf(mutant(FIRST, 'n <= 4', 'NoCoverage')), []).unnamed).to.deep.equal([NAMED]);
  });

  it('are named no longer once a test kills them', () => {
    const report = reportOf(mutant(FIRST, 'n <= 4', 'Killed'));
    const { unnamed, outdated, killed } = judgeMutants(report, [{ reason: 'it is 4 nowhere', mutants: [NAMED] }]);
    expect({ unnamed, outdated, killed }).to.deep.equal({ unnamed: [], outdated: [NAMED], killed: 1 });
  });

  it('stay named when the run did not look at their file', () => {
    const other = { ...NAMED, file: 'scan/b' };
    expect(judgeMutants(reportOf(), [{ reason: 'it is 4 nowhere', mutants: [other] }]).outdated).to.deep.equal([]);
  });

  it('are named by lines that are there', () => {
    const linesOf = (file: string) =>
      readFileSync(new URL(`../../src/${file}.js`, import.meta.url), 'utf8').split('\n');
    const gone = NAMES.flatMap(({ mutants }) => mutants).filter(({ file, line }) => {
      return !linesOf(file).some((each) => each.trim() === line);
    });
    expect(gone).to.deep.equal([]);
  });

  it('are each named once, with a reason', () => {
    const keys = NAMES.flatMap(({ mutants }) => mutants.map((each) => JSON.stringify(each)));
    expect(new Set(keys).size).to.equal(keys.length);
    for (const { reason, mutants } of NAMES) {
      expect(reason).to.match(/^\S.{15,}/);
      expect(mutants).to.not.have.lengthOf(0);
    }
  });
});

function reportOf(...mutants: ReportedMutant[]): MutationReport {
  return { files: { 'dist/src/scan/a.js': { source: SOURCE, mutants } } };
}

function mutant(location: ReportedMutant['location'], replacement: string, status: string): ReportedMutant {
  return { mutatorName: 'EqualityOperator', replacement, status, location };
}
