/** What is said of indexes, of the small files beside the segments, and of the data directory. */

import type { FindingContext } from './catalogue-row.js';
import type { Sentences } from './sentences.js';
import { bytesOf, counted, printable, quoted, sentenceOf } from './wording.js';

export const INDEX_SENTENCES = {
  IndexMagic: ({ found }) =>
    sentenceOf(`The index begins with ${printable(found)} instead of 0x464c5349 ("FLSI")`, 'no record is lost with it'),
  IndexVersion: ({ found }) =>
    sentenceOf(
      `The index has version ${found}: written by another build`,
      'versions 2, 3 and 4 are known, and no record is lost with it',
    ),
  IndexFlags: ({ found }) =>
    sentenceOf(`The index header has flags ${printable(found)} where 0x0000 is written`, 'no reader looks at them'),
  IndexMissing: ({ entriesExpected }) =>
    sentenceOf(
      'The segment has no index beside it',
      entriesExpected === undefined ? null : `${counted(entriesExpected, 'entry', 'entries')} would be in it`,
    ),
  IndexBaseOffset: ({ expected, found }) =>
    sentenceOf(`The index header names base offset ${found} where its segment begins at offset ${expected}`),
  IndexEntry: ({ entry, offset, entryPosition, why, dropped }) =>
    sentenceOf(
      `Index entry ${entry} says offset ${offset} at position ${entryPosition}: ${printable(why)}`,
      dropped ? 'a reader drops the entry' : null,
    ),
  IndexTornEntry: ({ bytes }) =>
    sentenceOf(`The last index entry is partial: ${bytes} of 16 bytes`, 'a reader ignores it'),
} satisfies Sentences<
  'IndexMagic' | 'IndexVersion' | 'IndexFlags' | 'IndexMissing' | 'IndexBaseOffset' | 'IndexEntry' | 'IndexTornEntry'
>;

/** The file at the head of a sentence: the reader may see the sentence alone. */
function named(context: FindingContext): string {
  return context.file === null ? 'The file' : `The file ${quoted(context.file)}`;
}

export const SIDECAR_SENTENCES = {
  SidecarMagic: ({ expected, found }, context) =>
    sentenceOf(`${named(context)} begins with ${printable(found)} instead of ${printable(expected)}`),
  SidecarVersion: ({ known, found }, context) =>
    sentenceOf(
      `${named(context)} has version ${found}: written by another build`,
      `version ${known} is known, so nothing behind it was decoded`,
    ),
  SidecarTruncated: ({ needed, available }, context) =>
    sentenceOf(`${named(context)} is short: ${bytesOf(needed)} needed, ${bytesOf(available)} there`),
  SidecarTrailingBytes: ({ extra }, context) =>
    sentenceOf(`${named(context)} has ${bytesOf(extra)} behind the end of its content`),
  SidecarChecksum: ({ expected, found }, context) =>
    sentenceOf(
      `${named(context)} does not match its checksum (stored ${printable(expected)}, computed ${printable(found)})`,
    ),
  SidecarField: ({ field, problem }, context) =>
    sentenceOf(
      `The field ${printable(field)} of ${context.file === null ? 'the file' : `the file ${quoted(context.file)}`} ${printable(problem)}`,
    ),
} satisfies Sentences<
  'SidecarMagic' | 'SidecarVersion' | 'SidecarTruncated' | 'SidecarTrailingBytes' | 'SidecarChecksum' | 'SidecarField'
>;

export const ROOT_SENTENCES = {
  UncleanStop: ({ acknowledgesBeforeSync }) =>
    sentenceOf(
      'run-state says that the broker was running when it stopped',
      acknowledgesBeforeSync
        ? 'it acknowledged records before syncing them, so records it acknowledged may be missing here, and how many is not known'
        : 'it synced records before acknowledging them',
    ),
  StorageIdMismatch: ({ storageId, runState }) =>
    sentenceOf(`run-state names storage id ${printable(runState)} where storage-id holds ${printable(storageId)}`),
  DirectoryName: ({ expected, found, why }) =>
    sentenceOf(
      `The directory is named ${quoted(found)}${expected === null ? '' : ` where ${quoted(expected)} was expected`}: ${printable(why)}`,
    ),
  Unreadable: ({ reason, code }, context) =>
    sentenceOf(
      `${context.file === null ? 'It' : quoted(context.file)} could not be read (${printable(code)}: ${printable(reason)})`,
      'what it holds is not known',
    ),
  ChangedWhileReading: ({ change, judgedBytes }, context) =>
    sentenceOf(
      `${named(context)} changed while it was read (${printable(change)})`,
      `only its first ${bytesOf(judgedBytes)} were judged`,
    ),
} satisfies Sentences<'UncleanStop' | 'StorageIdMismatch' | 'DirectoryName' | 'Unreadable' | 'ChangedWhileReading'>;
