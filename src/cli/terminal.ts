/**
 * How text for people should look on a stream: width, colour, characters. The one place that reads the environment.
 */

import type { Writable } from 'node:stream';
import type { Style } from '../report/style.js';
import type { ColorChoice } from './context.js';

const DEFAULT_WIDTH = 80;
/** No line is made longer, whatever the environment says. */
const MAX_WIDTH = 1000;

interface TerminalStream extends Writable {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** True when a person looks at the stream. */
export function isTerminal(stream: Writable): boolean {
  return (stream as TerminalStream).isTTY === true;
}

/** `NO_COLOR` and `CLICOLOR_FORCE` count only where `choice` is `auto`. */
export function styleFor(stream: Writable, choice: ColorChoice, env: NodeJS.ProcessEnv): Style {
  const columns = (stream as TerminalStream).columns ?? Number(env['COLUMNS'] ?? DEFAULT_WIDTH);
  return {
    width: Number.isInteger(columns) && columns > 0 ? Math.min(columns, MAX_WIDTH) : DEFAULT_WIDTH,
    color: wantsColor(stream, choice, env) ? 1 : 0,
    unicode: isUnicode(env),
  };
}

function wantsColor(stream: Writable, choice: ColorChoice, env: NodeJS.ProcessEnv): boolean {
  if (choice !== 'auto') return choice === 'always';
  if (env['NO_COLOR']) return false;
  if (env['CLICOLOR_FORCE'] && env['CLICOLOR_FORCE'] !== '0') return true;
  return isTerminal(stream) && env['TERM'] !== 'dumb' && env['CLICOLOR'] !== '0';
}

/** By the locale, as other tools do; without one, plain text that any terminal shows. */
function isUnicode(env: NodeJS.ProcessEnv): boolean {
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || '';
  return locale === '' || /utf-?8/i.test(locale);
}
