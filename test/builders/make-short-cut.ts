/**
 * The short cut of the bundle: the code of `verify` in one file, and V8's code cache of it after a small check has run.
 */

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { type BuildOptions, build, type Plugin } from 'esbuild';
import type * as bundledMain from '../../src/cli/bundled-main.js';
import { PROJECT_ROOT } from './trees.js';

const BUNDLE = path.join(PROJECT_ROOT, 'dist', 'bundle');
const FILE = path.join(BUNDLE, 'verify.cjs');
/** What `verify` loads when it is called, and is to lie in the file; the rest is loaded from beside it, or never. */
const INSIDE = ['command-line', 'verify', 'table'].map((name) => `${name}.js`);

const verifyAlone: Plugin = {
  name: 'verify-alone',
  setup(bundle) {
    bundle.onResolve({ filter: /^\./ }, ({ kind, path: wanted }) =>
      kind === 'dynamic-import' && !INSIDE.includes(path.basename(wanted))
        ? { path: `./${path.basename(wanted, '.js')}.cjs`, external: true }
        : null,
    );
  },
};

const SHARED = {
  absWorkingDir: PROJECT_ROOT,
  bundle: true,
  platform: 'node',
  format: 'cjs',
  target: 'node20',
  minify: true,
  legalComments: 'none',
  logLevel: 'warning',
  define: { 'import.meta.url': 'bundleUrl' },
  alias: { 'node:child_process': './src/cli/no-programs.ts', 'node:process': './src/cli/global-process.cjs' },
} as const satisfies BuildOptions;

/** What the terminal can do is decided by the tool itself, so that the library need not ask. */
const noDetection: Plugin = {
  name: 'no-detection',
  setup(bundle) {
    bundle.onResolve({ filter: /^#supports-color$/ }, () => ({ path: 'supports-color', namespace: 'stub' }));
    bundle.onLoad({ filter: /./, namespace: 'stub' }, () => ({
      contents: 'export default { stdout: false, stderr: false }',
    }));
  },
};

// A script with a code cache cannot import; what it loads later, it requires.
await build({
  ...SHARED,
  entryPoints: ['src/cli/main.ts'],
  outfile: FILE,
  supported: { 'dynamic-import': false },
  plugins: [verifyAlone, noDetection],
});
await build({
  ...SHARED,
  entryPoints: [
    'src/cli/verify-page.ts',
    'src/cli/checkpoint.ts',
    'src/report/prometheus.ts',
    'src/repair/output-file.ts',
  ],
  entryNames: '[name]',
  outdir: BUNDLE,
  outExtension: { '.js': '.cjs' },
  define: { 'import.meta.url': '""' },
});

const { loadScript } = (await import(pathToFileURL(path.join(BUNDLE, 'bundled-main.js')).href)) as typeof bundledMain;
const loaded = loadScript();
if (loaded === null) throw new Error(`${FILE} cannot be read`);
const nowhere = () => new Writable({ write: (_chunk, _encoding, done) => done() });
const streams = { stdout: nowhere(), stderr: nowhere(), stdin: process.stdin };
await loaded.main(['verify', path.join(PROJECT_ROOT, 'fixtures', 'healthy')], streams);
writeFileSync(`${FILE}.cache`, loaded.script.createCachedData());
