/**
 * Proof that the rules of the house bite: one violation of each is planted in a copy of the layout, one run of Biome looks at
 * all of them under this project's own biome.json, and each planted file must be reported for its own rule and for no other one.
 * The files that keep the rules must pass in the same run, so that a configuration that refuses everything fails here as well.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

interface Planted {
  readonly why: string;
  readonly file: string;
  readonly source: string;
  /** Biome's names of the rules that have to speak; none for a file that keeps them all. */
  readonly rules: readonly string[];
}

const IMPORTS = 'lint/style/noRestrictedImports';

/** A source that imports and uses one name. */
function importing(...specifiers: readonly string[]): string {
  const imports = specifiers.map((specifier, at) => `import { name${at} } from '${specifier}';\n`).join('');
  return `${imports}export const used = [${specifiers.map((_, at) => `name${at}`).join(', ')}];\n`;
}

function refused(folder: string, ...specifiers: readonly string[]): Planted[] {
  return specifiers.map((specifier, at) => ({
    why: `src/${folder} may not import ${specifier}`,
    file: `src/${folder}/planted-${at}-${specifier.replace(/[^a-z0-9]+/g, '-').replace(/^-/, '')}.ts`,
    source: importing(specifier),
    rules: specifier.startsWith('fs') ? [IMPORTS, 'lint/style/useNodejsImportProtocol'] : [IMPORTS],
  }));
}

const LAYERS: readonly Planted[] = [
  ...refused('domain', '../format/record.js', '../store/walk.js', '../cli/main.js', 'node:path', 'zod'),
  ...refused('format', '../store/walk.js', '../scan/window.js', '../report/table.js', './../store/walk.js'),
  ...refused(
    'store',
    '../scan/window.js',
    '../check/run.js',
    '../repair/apply.js',
    '../report/table.js',
    '../cli/main.js',
  ),
  ...refused('scan', '../check/run.js', '../repair/apply.js', '../report/table.js', '../cli/main.js'),
  ...refused('check', '../repair/apply.js', '../report/table.js', '../cli/main.js', '../domain/../cli/main.js'),
  ...refused('repair', '../scan/window.js', '../check/run.js', '../report/table.js', '../cli/main.js'),
  ...refused(
    'report',
    '../store/walk.js',
    '../scan/window.js',
    '../check/run.js',
    '../repair/apply.js',
    '../cli/main.js',
  ),
  ...refused('elsewhere', '../domain/result.js'),
];

const MODULES: readonly Planted[] = [
  ...refused('format', 'node:fs', 'fs', 'node:fs/promises', 'fs/promises', 'node:zlib', 'crc-32'),
  ...refused('store', 'fs', 'node:zlib', 'commander'),
  ...refused('scan', 'node:fs', 'node:zlib', 'crc-32', 'node:net'),
  ...refused('check', 'node:fs', 'node:zlib', 'crc-32/crc32c.js', 'node:process'),
  ...refused('repair', 'node:fs', 'node:zlib', 'chalk'),
  ...refused('report', 'node:fs', 'node:zlib', 'commander'),
  ...refused('cli', 'node:fs', 'node:fs/promises', 'fs', 'fs/promises', 'node:zlib', 'crc-32', 'chalk', 'cli-table3'),
];

const HABITS: readonly Planted[] = [
  {
    why: 'src/store opens nothing for writing',
    file: 'src/store/planted-writer.ts',
    source: "import { writeFileSync } from 'node:fs';\nexport const used = writeFileSync;\n",
    rules: [IMPORTS],
  },
  {
    why: 'src/store takes no handle on all of node:fs',
    file: 'src/store/planted-namespace.ts',
    source: "import * as fs from 'node:fs';\nexport const used = fs.writeFileSync;\n",
    rules: [IMPORTS],
  },
  {
    why: 'a type is an import like any other',
    file: 'src/format/planted-type.ts',
    source: "import type { Walk } from '../store/walk.js';\nexport type Used = Walk;\n",
    rules: [IMPORTS],
  },
  {
    why: 'a dynamic import is an import like any other',
    file: 'src/scan/planted-dynamic.ts',
    source: "export async function used(): Promise<unknown> {\n  return await import('../cli/main.js');\n}\n",
    rules: [IMPORTS],
  },
  {
    why: 'only the outer layers look at the process',
    file: 'src/report/planted-global.ts',
    source: 'export const used = process.cwd();\n',
    rules: ['lint/style/noRestrictedGlobals'],
  },
  {
    why: 'nothing calls process.exit',
    file: 'src/cli/planted-exit.ts',
    source: 'export function used(): void {\n  process.exit(1);\n}\n',
    rules: ['lint/nursery/noProcessExit'],
  },
  {
    why: 'nothing takes exit out of node:process',
    file: 'src/cli/planted-exit-import.ts',
    source: "import { exit } from 'node:process';\nexport const used = exit;\n",
    rules: [IMPORTS],
  },
  {
    why: 'nothing prints to the console',
    file: 'src/cli/planted-console.ts',
    source: "export function used(): void {\n  console.log('x');\n}\n",
    rules: ['lint/suspicious/noConsole'],
  },
  {
    why: 'exports have names',
    file: 'src/domain/planted-default.ts',
    source: 'export default 1;\n',
    rules: ['lint/style/noDefaultExport'],
  },
  {
    why: 'files are named in kebab-case',
    file: 'src/domain/plantedName.ts',
    source: 'export const used = 1;\n',
    rules: ['lint/style/useFilenamingConvention'],
  },
  {
    why: 'no file only passes on what others export',
    file: 'src/domain/planted-barrel.ts',
    source: "export { word } from './word.js';\n",
    rules: ['lint/performance/noBarrelFile'],
  },
  {
    why: 'imports do not run in a circle',
    file: 'src/domain/planted-circle.ts',
    source: "import { there } from './planted-circle-back.js';\nexport const here = (): unknown => there;\n",
    rules: ['lint/suspicious/noImportCycles'],
  },
  {
    why: 'imports do not run in a circle, seen from the other side',
    file: 'src/domain/planted-circle-back.ts',
    source: "import { here } from './planted-circle.js';\nexport const there = (): unknown => here;\n",
    rules: ['lint/suspicious/noImportCycles'],
  },
  {
    why: 'a promise is not left to itself',
    file: 'src/cli/planted-promise.ts',
    source: 'async function work(): Promise<void> {}\nexport function used(): void {\n  work();\n}\n',
    rules: ['lint/nursery/noFloatingPromises'],
  },
  {
    why: 'a function has at most 70 lines',
    file: 'src/check/planted-long.ts',
    source: `export function used(list: number[]): void {\n${'  list.push(1);\n'.repeat(71)}}\n`,
    rules: ['lint/complexity/noExcessiveLinesPerFunction'],
  },
  {
    why: 'no test keeps the others from running',
    file: 'test/planted.test.ts',
    source: "describe.only('one', () => {});\n",
    rules: ['lint/suspicious/noFocusedTests'],
  },
];

const KEPT: readonly Omit<Planted, 'rules'>[] = [
  { why: 'a word of the domain', file: 'src/domain/word.ts', source: 'export const word = 1;\n' },
  { why: 'domain may import its own files', file: 'src/domain/words.ts', source: importing('./word.js') },
  {
    why: 'format may import domain',
    file: 'src/format/record.ts',
    source: importing('../domain/word.js', './bytes.js'),
  },
  {
    why: 'checksum.ts may import zlib and crc-32',
    file: 'src/format/checksum.ts',
    source:
      "import { crc32 } from 'node:zlib';\nimport crc32c from 'crc-32/crc32c.js';\nexport const used = [crc32, crc32c];\n",
  },
  {
    why: 'a decoder may work on bits',
    file: 'src/format/bits.ts',
    source: 'export const bits = (a: number[]): number => ((a[0]! << 8) | (a[1]! & 0xff)) >>> 0;\n',
  },
  {
    why: 'store may import the reading part of node:fs',
    file: 'src/store/file-source.ts',
    source: `import { type BigIntStats, closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { namely } from '../format/record.js';
export type Stat = BigIntStats;
export const used = [closeSync, constants, fstatSync, openSync, readSync, namely];\n`,
  },
  {
    why: 'scan may import store, format, domain and workers',
    file: 'src/scan/window.ts',
    source: importing('node:worker_threads', '../domain/word.js', '../format/record.js', '../store/walk.js'),
  },
  {
    why: 'check may import scan and what lies under it',
    file: 'src/check/run.ts',
    source: importing('../domain/word.js', '../format/record.js', '../scan/window.js', '../store/walk.js'),
  },
  {
    why: 'repair may import domain, format and store',
    file: 'src/repair/apply.ts',
    source: importing('../domain/word.js', '../format/record.js', '../store/walk.js', './durable-fs.js'),
  },
  { why: 'durable-fs.ts may write', file: 'src/repair/durable-fs.ts', source: importing('node:fs') },
  {
    why: 'report may import domain and the layout tables',
    file: 'src/report/table.ts',
    source: importing('chalk', 'cli-table3', '../domain/word.js', '../format/record.js'),
  },
  {
    why: 'cli may import every layer',
    file: 'src/cli/main.ts',
    source: importing(
      'node:process',
      'commander',
      '../check/run.js',
      '../domain/word.js',
      '../format/record.js',
      '../repair/apply.js',
      '../report/table.js',
      '../scan/window.js',
      '../store/walk.js',
    ),
  },
  { why: 'the evidence bundle may be compressed', file: 'src/cli/evidence.ts', source: importing('node:zlib') },
  {
    why: 'a test may be long',
    file: 'test/long.test.ts',
    source: `export function used(list: number[]): void {\n${'  list.push(1);\n'.repeat(71)}}\n`,
  },
];

/** Runs Biome once over the planted files; the rules it named, by file. */
function lint(planted: readonly Planted[]): Map<string, string[]> {
  const home = mkdtempSync(path.join(tmpdir(), 'felix-fsck-house-'));
  try {
    for (const name of ['biome.json', 'package.json']) {
      copyFileSync(name, path.join(home, name));
    }
    for (const { file, source } of planted) {
      mkdirSync(path.join(home, path.dirname(file)), { recursive: true });
      writeFileSync(path.join(home, file), source);
    }
    const biome = fileURLToPath(import.meta.resolve('@biomejs/biome/bin/biome'));
    const run = spawnSync(process.execPath, [biome, 'lint', '--reporter=json', '--max-diagnostics=none'], {
      cwd: home,
      encoding: 'utf8',
    });
    const { diagnostics } = JSON.parse(run.stdout) as {
      diagnostics: readonly { readonly category: string; readonly location: { readonly path: string } }[];
    };
    const found = new Map<string, string[]>();
    for (const { category, location } of diagnostics) {
      found.set(location.path, [...(found.get(location.path) ?? []), category]);
    }
    return found;
  } finally {
    rmSync(home, { recursive: true });
  }
}

describe('the rules of the house', () => {
  const planted: readonly Planted[] = [
    ...LAYERS,
    ...MODULES,
    ...HABITS,
    ...KEPT.map((kept) => ({ ...kept, rules: [] })),
  ];
  let found = new Map<string, string[]>();

  before(() => {
    found = lint(planted);
  });

  for (const { why, file, rules } of planted) {
    it(why, () => {
      expect(found.get(file) ?? []).to.have.members([...rules]);
    });
  }

  it('nothing else is reported', () => {
    expect([...found.keys()].sort()).to.deep.equal(
      planted
        .filter(({ rules }) => rules.length > 0)
        .map(({ file }) => file)
        .sort(),
    );
  });
});
