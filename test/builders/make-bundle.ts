/**
 * One file that needs nothing but Node: `npm run bundle` writes `dist/felix-fsck.cjs`, for machines that have no npm and no
 * way out. The code of the threads is inside it as text, and the licences of what else is in it stand at its end.
 */

import { appendFileSync, chmodSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { type BuildOptions, build } from 'esbuild';
import { noticesOf } from './notices.js';
import { PROJECT_ROOT } from './trees.js';

export const BUNDLE = path.join(PROJECT_ROOT, 'dist', 'felix-fsck.cjs');

const ENTRY = `
import process from 'node:process';
import { main } from './src/cli/main.ts';
const { stdout, stderr, stdin } = process;
main(process.argv.slice(2), { stdout, stderr, stdin }).then((code) => {
  process.exitCode = code;
});`;

const SHARED = {
  absWorkingDir: PROJECT_ROOT,
  bundle: true,
  platform: 'node',
  format: 'cjs',
  target: 'node20',
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: 'none',
  logLevel: 'warning',
  alias: { 'node:child_process': './src/cli/no-programs.ts', 'node:process': './src/cli/global-process.cjs' },
} as const satisfies BuildOptions;

/** Writes the file and gives its path. */
export async function makeBundle(outfile = BUNDLE): Promise<string> {
  const worker = await build({ ...SHARED, entryPoints: ['src/scan/worker.ts'], write: false });
  const { metafile } = await build({
    ...SHARED,
    metafile: true,
    stdin: { contents: ENTRY, resolveDir: PROJECT_ROOT, sourcefile: 'felix-fsck.ts', loader: 'ts' },
    banner: { js: '#!/usr/bin/env node' },
    define: { FELIX_FSCK_WORKER: JSON.stringify(worker.outputFiles[0]!.text), 'import.meta.url': '""' },
    outfile,
  });
  appendFileSync(outfile, `/*\n${noticesOf(metafile).replaceAll('*/', '* /')}*/\n`);
  chmodSync(outfile, 0o755);
  return outfile;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await makeBundle();
