/** The committed fixtures are the ones that the builder makes, to the byte and without a file more. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { hexOf } from '../../src/format/bytes.js';
import { fixtureFiles, fixtures, writeFixtures } from './make-fixtures.js';
import { PROJECT_ROOT, withTempDir } from './trees.js';

function filesBelow(root: string): string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)))
    .sort();
}

describe('fixtures', () => {
  const root = path.join(PROJECT_ROOT, 'fixtures');

  it('are committed as the builder makes them', () => {
    const made = fixtureFiles();
    expect(filesBelow(root)).to.deep.equal([...made.keys()].sort());
    for (const [name, bytes] of made) {
      expect(hexOf(readFileSync(path.join(root, name))), name).to.equal(hexOf(bytes));
    }
  });

  it('are written where asked, over what is there', () =>
    withTempDir((dir) => {
      writeFixtures(dir);
      writeFixtures(dir);
      expect(filesBelow(dir)).to.deep.equal(filesBelow(root));
    }));

  it('are small, and each name the paths they are looked at by', () => {
    for (const { name, paths, files } of fixtures()) {
      const bytes = [...files.values()].reduce((sum, file) => sum + file.length, 0);
      expect(bytes, name).to.be.lessThan(32 * 1024);
      for (const below of paths) {
        expect(
          [...files.keys()].some((file) => below === '.' || file.startsWith(`${below}/`)),
          name,
        ).to.equal(true);
      }
    }
  });
});
