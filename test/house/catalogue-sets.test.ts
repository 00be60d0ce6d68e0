/** A kind of finding is one thing everywhere: a row, a page, an explanation, a schema, and a shard on which it is met. */
import { expect } from 'chai';
import { CATALOGUE } from '../../src/domain/catalogue.js';
import { KINDS } from '../../src/domain/explanation.js';
import type { FindingKind } from '../../src/domain/finding.js';
import { runInProcess } from '../builders/in-process.js';
import { MAKINGS } from '../builders/kinds.js';
import { fixtures } from '../builders/make-fixtures.js';
import { manFiles } from '../builders/make-man.js';
import { withTempDir } from '../builders/trees.js';

const CATALOGUED = (Object.keys(CATALOGUE) as FindingKind[]).sort();

function sorted(kinds: Iterable<string | undefined>): string[] {
  return [...kinds].filter((kind) => kind !== undefined).sort();
}

describe('kinds of findings', () => {
  it('are the same in the catalogue, the groups, the makings and the manual page', () => {
    const page = manFiles().get('felix-fsck-findings.7')!;
    expect(sorted(KINDS)).to.deep.equal(CATALOGUED);
    expect(sorted(Object.keys(MAKINGS))).to.deep.equal(CATALOGUED);
    expect(sorted([...page.matchAll(/^\.SS "(\w+)"$/gm)].map(([, kind]) => kind))).to.deep.equal(CATALOGUED);
  });

  it('are the same in the schema of verify', async () => {
    const { stdout } = await runInProcess(['schema', 'verify']);
    const { $defs } = JSON.parse(stdout) as {
      $defs: { kind: { enum: string[] }; findingDetail: { oneOf: { properties: { kind: { const: string } } }[] } };
    };
    expect(sorted($defs.kind.enum)).to.deep.equal(CATALOGUED);
    expect(sorted($defs.findingDetail.oneOf.map(({ properties }) => properties.kind.const))).to.deep.equal(CATALOGUED);
  });

  it('are explained, each under its own title', async () => {
    const { stdout } = await runInProcess(['explain', '--format', 'json']);
    const { kinds } = JSON.parse(stdout) as { kinds: { kind: string; title: string }[] };
    expect(sorted(kinds.map(({ kind }) => kind))).to.deep.equal(CATALOGUED);
    expect(new Set(kinds.map(({ title }) => title)).size).to.equal(kinds.length);
  });

  it('that fixtures promise are kinds of the catalogue', () => {
    const promised = fixtures().flatMap(({ findings }) => findings.map(({ kind }) => kind));
    expect(promised).not.to.have.length(0);
    for (const kind of promised) expect(CATALOGUED).to.include(kind);
  });

  for (const kind of CATALOGUED) {
    it(`hold ${kind}, which a shard can be made to show`, async () => {
      await withTempDir(async (dir) => {
        MAKINGS[kind].make(dir);
        expect(await MAKINGS[kind].look(dir)).to.include(kind);
      });
    });
  }
});
