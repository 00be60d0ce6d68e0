/**
 * One line on the terminal while a check takes its time: bytes, rate, time left, findings so far.
 *
 * Nothing is written unless standard error is a terminal, and nothing in the first half second.
 */

import type { Writable } from 'node:stream';
import { grouped } from '../domain/wording.js';
import { isTerminal } from './terminal.js';

const FIRST_MS = 500;
const EVERY_MS = 200;
const CLEAR = '\r\u001b[K';

export interface ProgressSource {
  /** Bytes passed so far. */
  passed(): number;
  /** Bytes in all; asked once, when there is something to show. */
  total(): number;
  findings(): number;
}

export class Progress {
  readonly #stream: Writable;
  readonly #source: ProgressSource;
  readonly #startedAt = Date.now();
  #timer: NodeJS.Timeout | null = null;
  #total: number | null = null;
  #shown = false;

  constructor(stream: Writable, wanted: boolean, source: ProgressSource) {
    this.#stream = stream;
    this.#source = source;
    if (wanted && isTerminal(stream)) this.#timer = setInterval(() => this.#show(), EVERY_MS);
    this.#timer?.unref();
  }

  /** Wipes the line, so that what is printed next stands by itself. */
  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    if (this.#shown) this.#stream.write(CLEAR);
  }

  #show(): void {
    const elapsed = Date.now() - this.#startedAt;
    if (elapsed < FIRST_MS) return;
    this.#total ??= this.#source.total();
    const columns = (this.#stream as Writable & { columns?: number }).columns || 80;
    const line = progressLine(this.#source.passed(), this.#total, elapsed, this.#source.findings());
    this.#stream.write(CLEAR + line.slice(0, Math.max(0, columns - 1)));
    this.#shown = true;
  }
}

/** `1,204 of 4,096 MiB (29%), 812 MiB/s, 4 s left, 2 findings`. */
export function progressLine(passed: number, total: number, elapsedMs: number, findings: number): string {
  const mib = (bytes: number) => grouped(Math.round(bytes / 1048576));
  const percent = total === 0 ? 100 : Math.min(100, Math.floor((passed / total) * 100));
  const rate = passed / Math.max(elapsedMs, 1);
  const left = rate === 0 ? null : Math.ceil(Math.max(0, total - passed) / rate / 1000);
  return [
    `${mib(passed)} of ${mib(total)} MiB (${percent}%)`,
    `${mib(rate * 1000)} MiB/s`,
    ...(left === null ? [] : [`${grouped(left)} s left`]),
    `${grouped(findings)} ${findings === 1 ? 'finding' : 'findings'}`,
  ].join(', ');
}
