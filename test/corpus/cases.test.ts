import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Finding } from '../../src/domain/finding.js';
import type { Verdict } from '../../src/domain/report.js';
import { toJson } from '../../src/report/json.js';
import { describeWithCorpus } from '../builders/trees.js';
import { type Checked, checked } from './checked.js';

interface ExpectedFinding {
  readonly kind: string;
  readonly severity: string;
  readonly file: string;
  readonly position?: number;
  readonly [field: string]: unknown;
}

interface Case {
  readonly case: string;
  readonly about: string;
  readonly path: string;
  readonly findings: readonly ExpectedFinding[];
  readonly exact: boolean;
  readonly verdict: Verdict;
  readonly verdictWithRepairChecksumTail?: Verdict;
  readonly exit: number;
}

const VERDICTS: readonly Verdict[] = ['opens', 'repairs', 'refuses'];

describeWithCorpus('the corpus of cases', (corpus) => {
  const root = join(corpus, 'cases');
  const cases = readFileSync(join(root, 'expected.ndjson'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Case);

  for (const expected of cases) {
    it(`${expected.case}: ${expected.about}`, async () => {
      const result = await checked(join(root, expected.path));
      expectFindings(allFindings(result), expected);
      expect(worstVerdict(result)).to.equal(expected.verdict);
      expect(result.summary.exitCode).to.equal(expected.exit);
      expectEveryByteAccountedFor(result);
      const quick = await checked(join(root, expected.path), { quick: true });
      expect(worstVerdict(quick), 'by a quick look').to.equal(expected.verdict);
      if (expected.verdictWithRepairChecksumTail === undefined) return;
      const settings = { repairChecksumTail: true, verifyAllOnOpen: false, indexSpacing: 4096 };
      const optedIn = await checked(join(root, expected.path), { settings });
      expect(worstVerdict(optedIn)).to.equal(expected.verdictWithRepairChecksumTail);
    });
  }
});

function allFindings({ shards, roots }: Checked): Finding[] {
  return [...shards, ...roots].flatMap(({ findings }) => findings);
}

function worstVerdict({ shards }: Checked): Verdict {
  const worst = Math.max(...shards.map(({ prediction }) => VERDICTS.indexOf(prediction.verdict)));
  return VERDICTS[worst]!;
}

function expectFindings(findings: readonly Finding[], expected: Case): void {
  const left = [...findings];
  for (const wanted of expected.findings) {
    const at = left.findIndex((finding) => matches(finding, wanted));
    expect(at, `${toJson(wanted)} among ${toJson(left)}`).to.be.at.least(0);
    left.splice(at, 1);
  }
  if (!expected.exact) return;
  const surplus = left.filter(({ severity }) => severity !== 'info');
  expect(
    surplus.map((finding) => toJson(finding)),
    'findings that nobody expects',
  ).to.deep.equal([]);
}

function matches(finding: Finding, { kind, severity, file, position, ...detail }: ExpectedFinding): boolean {
  if (finding.kind !== kind || finding.severity !== severity || finding.file !== file) return false;
  if (position !== undefined && finding.site.position !== position) return false;
  const found = JSON.parse(toJson(finding.detail)) as Record<string, unknown>;
  return Object.entries(detail).every(([field, value]) => found[field] === value);
}

function expectEveryByteAccountedFor({ shards }: Checked): void {
  for (const { bytes, verifiedBytes, damagedBytes, unreadBytes } of shards.flatMap(({ segments }) => segments)) {
    expect(verifiedBytes + damagedBytes + unreadBytes).to.equal(bytes);
    for (const part of [verifiedBytes, damagedBytes, unreadBytes]) expect(part).to.be.at.least(0);
  }
}
