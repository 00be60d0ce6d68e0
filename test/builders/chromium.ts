/**
 * A Chromium without a window, spoken to over its debugging pipe, for the tests that look at pages as people do.
 */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Readable, Writable } from 'node:stream';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/** The name of the browser that is installed, or null. */
export function installedChromium(): string | null {
  return NAMES.find((name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0) ?? null;
}

export interface View {
  readonly width: number;
  readonly height: number;
  readonly dark: boolean;
  /** As it would be printed. */
  readonly print?: true;
}

/** What a page did and is, once it has loaded. */
export interface Visit {
  /** Every address that was asked for. */
  readonly requests: readonly string[];
  /** What the browser complains of: blocked by policy, failed to load, thrown. */
  readonly complaints: readonly string[];
  evaluate<T>(expression: string): Promise<T>;
  screenshot(): Promise<Uint8Array>;
}

interface Answer {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly message: string };
}

type Listener = (answer: Answer) => void;

export class Chromium {
  readonly #child: ChildProcess;
  readonly #profile: string;
  readonly #pending = new Map<number, Listener>();
  readonly #listeners = new Set<Listener>();
  #session: string | null = null;
  #next = 1;
  #rest = '';

  private constructor(child: ChildProcess, profile: string) {
    this.#child = child;
    this.#profile = profile;
    (child.stdio[4] as Readable).setEncoding('utf8').on('data', (text: string) => this.#take(text));
  }

  static async start(name: string): Promise<Chromium> {
    const profile = mkdtempSync(path.join(tmpdir(), 'felix-fsck-chromium-'));
    const child = spawn(
      name,
      [
        '--headless',
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
        '--hide-scrollbars',
        '--remote-debugging-pipe',
        `--user-data-dir=${profile}`,
        'about:blank',
      ],
      { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] },
    );
    const browser = new Chromium(child, profile);
    const { targetId } = await browser.#call('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await browser.#call('Target.attachToTarget', { targetId, flatten: true });
    browser.#session = sessionId as string;
    for (const domain of ['Page', 'Network', 'Runtime', 'Log']) await browser.#call(`${domain}.enable`, {});
    return browser;
  }

  async stop(): Promise<void> {
    const gone = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#session = null;
    await this.#call('Browser.close', {});
    await gone;
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }

  /** Loads a file and looks at it; what the last page did is forgotten. */
  async visit(file: string, { width, height, dark, print }: View): Promise<Visit> {
    const requests: string[] = [];
    const complaints: string[] = [];
    await this.#call('Emulation.setDeviceMetricsOverride', {
      width,
      height,
      deviceScaleFactor: 1,
      mobile: width < 600,
    });
    const scheme = { name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' };
    await this.#call('Emulation.setEmulatedMedia', { media: print ? 'print' : '', features: [scheme] });
    const address = `file://${file}`;
    await new Promise<void>((resolve, reject) => {
      const listener: Listener = ({ method, params = {} }) => {
        const { request, entry, exceptionDetails } = params as Record<string, Record<string, unknown> | undefined>;
        if (method === 'Network.requestWillBeSent') requests.push(String(request?.['url']));
        if (method === 'Log.entryAdded') complaints.push(String(entry?.['text']));
        if (method === 'Runtime.exceptionThrown') complaints.push(String(exceptionDetails?.['text']));
        if (method === 'Page.loadEventFired') resolve();
      };
      this.#listeners.clear();
      this.#listeners.add(listener);
      this.#call('Page.navigate', { url: address }).catch(reject);
    });
    return {
      requests,
      complaints,
      evaluate: async <T>(expression: string) => {
        const { result } = await this.#call('Runtime.evaluate', { expression, returnByValue: true });
        return (result as { readonly value: T }).value;
      },
      screenshot: async () => {
        const { data } = await this.#call('Page.captureScreenshot', {});
        return Buffer.from(data as string, 'base64');
      },
    };
  }

  #call(method: string, params: object): Promise<Record<string, unknown>> {
    const id = this.#next++;
    const session = this.#session === null ? {} : { sessionId: this.#session };
    return new Promise((resolve, reject) => {
      this.#pending.set(id, ({ result, error }) => {
        if (error === undefined) resolve(result ?? {});
        else reject(new Error(`${method}: ${error.message}`));
      });
      (this.#child.stdio[3] as Writable).write(`${JSON.stringify({ id, method, params, ...session })}\0`);
    });
  }

  #take(text: string): void {
    const messages = (this.#rest + text).split('\0');
    this.#rest = messages.pop() ?? '';
    for (const message of messages) {
      const answer = JSON.parse(message) as Answer;
      if (answer.id === undefined) for (const listener of this.#listeners) listener(answer);
      else {
        this.#pending.get(answer.id)?.(answer);
        this.#pending.delete(answer.id);
      }
    }
  }
}
