import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { checkRelations } from '../../src/check/relations.js';
import { factsOf, SUBJECT } from '../builders/facts.js';
import { readShard } from '../builders/shards.js';
import { describeWithCorpus } from '../builders/trees.js';

interface Case {
  readonly case: string;
  readonly path: string;
  readonly findings: readonly { readonly kind: string; readonly severity: string; readonly file: string }[];
  readonly exact: boolean;
}

/** The kinds that say how files of a shard relate, or that a small file is damaged. */
const RELATION =
  /^(Sidecar|Epoch|Commit|ReplicaBehind|Ballot|GenerationGivenUp|Manifest|Producers|Keys|Batch|Generation|RecordKind|HistoryHole|Timestamp)/;
/** Directories named like this are shards. */
const SHARD = /_[0-9]+-[0-9a-f]{16}/;

describeWithCorpus('relations over the corpus', (corpus) => {
  const lines = readFileSync(path.join(corpus, 'cases/expected.ndjson'), 'utf8').trim().split('\n');
  for (const line of lines) {
    const expected: Case = JSON.parse(line);
    if (!SHARD.test(path.basename(expected.path))) continue;
    it(`${expected.case}: findings of relations are the ones expected`, () => {
      const facts = factsOf(readShard(path.join(corpus, 'cases', expected.path)));
      const found = checkRelations(facts, SUBJECT).findings.map(({ kind, severity, file, site }) => {
        return { kind, severity, file, position: site.position };
      });
      const wanted = expected.findings.filter(({ kind }) => RELATION.test(kind));
      for (const finding of wanted) {
        expect(found.some((other) => Object.entries(finding).every(([k, v]) => other[k as 'kind'] === v))).to.equal(
          true,
          `${JSON.stringify(finding)} in ${JSON.stringify(found)}`,
        );
      }
      if (!expected.exact) return;
      const grave = found.filter(({ severity, kind }) => severity !== 'info' || wanted.some((w) => w.kind === kind));
      expect(grave).to.have.lengthOf(wanted.length, JSON.stringify(grave));
    });
  }
});
