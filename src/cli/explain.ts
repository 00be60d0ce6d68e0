/**
 * `explain`: tells what a kind of finding, an exit code or a line of the broker's log means, and what can be done.
 *
 * Nothing on disk is looked at but standard input, and that only when asked to with `-`.
 */

import { type BrokerLine, parseBrokerLine } from '../domain/broker-phrases.js';
import { EXIT_CODES } from '../domain/exit-codes.js';
import { KINDS, type Place, questionIn } from '../domain/explanation.js';
import { fail } from '../domain/result.js';
import { shellPath } from '../domain/shell-words.js';
import { quoted } from '../domain/wording.js';
import { indexFileName, parseKeyLabel, segmentFileName, shardDirectoryName } from '../format/names.js';
import {
  type ExplainedKind,
  exitCodeJson,
  kindJson,
  renderExitCode,
  renderExplainList,
  renderExplainListJson,
  renderKind,
} from '../report/explain.js';
import { toJsonDocument, toJsonLine } from '../report/json.js';
import type { CommandContext } from './context.js';
import { colorOf, formatOf, type Options } from './options.js';

/** Of standard input, as much as a line of a log can be. */
const MOST_INPUT = 65_536;

export async function run(context: CommandContext, words: readonly string[], options: Options): Promise<number> {
  const text = words.length === 1 && words[0] === '-' ? await inputText(context) : words.join(' ');
  await context.out.write(words.length === 0 ? listText(context, options) : answerText(text, context, options));
  return 0;
}

function listText(context: CommandContext, options: Options): string {
  const format = formatOf(options);
  if (format === 'table') return renderExplainList(context.style(colorOf(options)));
  return renderExplainListJson(context.tool, format === 'ndjson');
}

function answerText(text: string, context: CommandContext, options: Options): string {
  const question = questionIn(text);
  const format = formatOf(options);
  const style = () => context.style(colorOf(options));
  const json = (value: object) => (format === 'json' ? toJsonDocument(value) : toJsonLine(value));
  switch (question.about) {
    case 'kind': {
      const explained = explainedKind(question, options);
      return format === 'table' ? renderKind(explained, style()) : json(kindJson(explained, context.tool));
    }
    case 'exit-code':
      return format === 'table'
        ? renderExitCode(question.code, style())
        : json(exitCodeJson(question.code, context.tool));
    case 'unknown':
      return fail({ reason: 'usage', message: unknownText(text, question.suggestions) });
  }
}

function unknownText(text: string, suggestions: readonly string[]): string {
  const asked = `${quoted(text)} is no kind of finding, no exit code and no line of a broker that is known.`;
  if (suggestions.length > 0) return `${asked} Did you mean ${suggestions.join(', ')}?`;
  const codes = EXIT_CODES.map(({ code }) => code).join(', ');
  return `${asked} felix-fsck explain lists the ${KINDS.length} kinds; exit codes are ${codes}.`;
}

function explainedKind(
  question: { readonly kind: ExplainedKind['kind']; readonly line: BrokerLine | null },
  options: Options,
): ExplainedKind {
  const { kind, line } = question;
  const given = options['shard'];
  const place: Place = {
    shard: typeof given === 'string' ? shellPath(given) : null,
    file: line === null ? null : fileOf(line),
    position: line?.position ?? null,
  };
  const key = line?.shard === undefined ? null : parseKeyLabel(line.shard);
  return { kind, line, place, directoryName: key === null ? null : shardDirectoryName(key) };
}

/** The file that a line is about: a small file that it names, else the segment's or its index. */
function fileOf(line: BrokerLine): string | null {
  if (line.file !== undefined) return line.file;
  if (line.segment === undefined) return null;
  return line.kind.startsWith('Index') ? indexFileName(line.segment) : segmentFileName(line.segment);
}

/** The first line of the input that a broker's phrase is in; all of it when there is none. */
async function inputText(context: CommandContext): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of context.streams.stdin) {
    const bytes = chunk as Uint8Array;
    chunks.push(bytes);
    length += bytes.length;
    if (length >= MOST_INPUT || context.signal.aborted) break;
  }
  const text = Buffer.concat(chunks).toString('utf8').slice(0, MOST_INPUT);
  return text.split('\n').find((line) => parseBrokerLine(line) !== null) ?? text;
}
