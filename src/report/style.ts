/**
 * How a text for people looks: its width, its colours, its characters. Decided by the caller; nothing is asked of the
 * process or the terminal here. Colour never says anything that the words do not say.
 */

import { Chalk, type ColorSupportLevel } from 'chalk';
import type { Severity } from '../domain/finding.js';

export interface Style {
  /** Columns of a line; at least 40 are used. */
  readonly width: number;
  /** 0 for none, 1 for 16 colours, 2 for 256, 3 for all. */
  readonly color: ColorSupportLevel;
  /** False when only ASCII may be written: everything else from the data is escaped. */
  readonly unicode: boolean;
}

const DEFAULT_WIDTH = 80;
const LEAST_WIDTH = 40;

/** The columns that are used. */
export function widthOf(style: Style): number {
  return Number.isFinite(style.width) ? Math.max(LEAST_WIDTH, Math.floor(style.width)) : DEFAULT_WIDTH;
}

export type Paint = (text: string) => string;

export interface Paints extends Readonly<Record<Severity, Paint>> {
  readonly good: Paint;
  readonly strong: Paint;
  readonly faint: Paint;
}

export function paintsOf(style: Style): Paints {
  const chalk = new Chalk({ level: style.color });
  return {
    fatal: (text) => chalk.bold.red(text),
    error: (text) => chalk.red(text),
    warning: (text) => chalk.yellow(text),
    info: (text) => chalk.cyan(text),
    good: (text) => chalk.green(text),
    strong: (text) => chalk.bold(text),
    faint: (text) => chalk.dim(text),
  };
}
