/**
 * Which mutants of a Stryker run survived, and which of those are named with a reason in `survivors/`.
 *
 * A mutant is known by its file, its mutator, the text that was replaced with the line it stands in, and what replaced it,
 * so that a name holds until the code that it speaks of changes.
 */

import { readdirSync, readFileSync } from 'node:fs';

interface Place {
  readonly line: number;
  readonly column: number;
}

export interface ReportedMutant {
  readonly mutatorName: string;
  readonly replacement: string;
  readonly status: string;
  readonly location: { readonly start: Place; readonly end: Place };
}

/** What is read of Stryker's JSON report. */
export interface MutationReport {
  readonly files: Readonly<Record<string, { readonly source: string; readonly mutants: readonly ReportedMutant[] }>>;
}

export interface Mutant {
  /** Below `dist/src`, without its extension. */
  readonly file: string;
  readonly mutator: string;
  /** The first line of the code that was replaced, whole. */
  readonly line: string;
  readonly original: string;
  readonly replacement: string;
}

/** Mutants that survive for one and the same reason. */
export interface NamedSurvivors {
  readonly reason: string;
  readonly mutants: readonly Mutant[];
}

export interface Judgement {
  /** Survived, and nobody says why. */
  readonly unnamed: readonly Mutant[];
  /** Named, and found by a test in this run, or no longer there. */
  readonly outdated: readonly Mutant[];
  readonly killed: number;
  readonly survived: number;
}

const SURVIVING = new Set(['Survived', 'NoCoverage']);
const DEAD = new Set(['Killed', 'Timeout', 'RuntimeError']);

export function judgeMutants(report: MutationReport, named: readonly NamedSurvivors[]): Judgement {
  const survivors = new Map<string, Mutant>();
  let killed = 0;
  let survived = 0;
  for (const [path, { source, mutants }] of Object.entries(report.files)) {
    const lines = source.split('\n');
    for (const mutant of mutants) {
      if (DEAD.has(mutant.status)) killed++;
      if (!SURVIVING.has(mutant.status)) continue;
      survived++;
      const known = mutantOf(fileOf(path), lines, mutant);
      survivors.set(keyOf(known), known);
    }
  }
  const files = new Set(Object.keys(report.files).map(fileOf));
  const names = named.flatMap(({ mutants }) => mutants);
  const keys = new Set(names.map(keyOf));
  return {
    unnamed: [...survivors].flatMap(([key, mutant]) => (keys.has(key) ? [] : [mutant])),
    outdated: names.filter((mutant) => files.has(mutant.file) && !survivors.has(keyOf(mutant))),
    killed,
    survived,
  };
}

/** All that is named in the JSON files of a directory. */
export function readSurvivors(directory: URL): NamedSurvivors[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => JSON.parse(readFileSync(new URL(name, directory), 'utf8')) as NamedSurvivors[]);
}

function mutantOf(
  file: string,
  lines: readonly string[],
  { mutatorName, replacement, location }: ReportedMutant,
): Mutant {
  const { start, end } = location;
  const taken = lines.slice(start.line - 1, end.line);
  taken[taken.length - 1] = taken.at(-1)!.slice(0, end.column - 1);
  taken[0] = taken[0]!.slice(start.column - 1);
  return {
    file,
    mutator: mutatorName,
    line: lines[start.line - 1]!.trim(),
    original: squeezed(taken.join(' ')),
    replacement: squeezed(replacement),
  };
}

function fileOf(path: string): string {
  return path.replace(/^.*\bdist\/src\//, '').replace(/\.js$/, '');
}

function squeezed(code: string): string {
  return code.replace(/\s+/g, ' ').trim();
}

function keyOf(mutant: Mutant): string {
  return JSON.stringify([mutant.file, mutant.mutator, mutant.line, mutant.original, mutant.replacement]);
}
