/** Writes the licences of what the bundle contains beside it; the last step of building it. */

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Metafile } from 'esbuild';
import { noticesOf } from './notices.js';
import { PROJECT_ROOT } from './trees.js';

const BUNDLE = path.join(PROJECT_ROOT, 'dist', 'bundle');
const METAFILE = path.join(BUNDLE, 'contents.json');

const contents = JSON.parse(readFileSync(METAFILE, 'utf8')) as Metafile;
writeFileSync(path.join(BUNDLE, 'THIRD-PARTY-NOTICES.txt'), noticesOf(contents));
rmSync(METAFILE);
