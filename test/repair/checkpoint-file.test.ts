/** A checkpoint is believed line by line as it was written, and not at all once anything in it is another. */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import type { RememberedSegment } from '../../src/domain/checkpoint.js';
import { Checkpoint, type CheckpointOptions } from '../../src/repair/checkpoint-file.js';
import { failureOfAsync } from '../builders/failures.js';
import { withMemoryDir } from '../builders/repairs.js';

const NOW = 1_767_225_600_000_000n;
const U64_MAX = 18_446_744_073_709_551_615n;
const TOOL = { name: 'felix-fsck', version: '1.2.3' };

function options(more: Partial<CheckpointOptions> = {}): CheckpointOptions {
  return { tool: TOOL, nowMicros: NOW, recheckAfterMicros: 1000n, checked: [], ...more };
}

/** A segment with something in every field. */
function full(verifiedAtMicros = NOW): RememberedSegment {
  const batch = { producer: U64_MAX, sequence: 3n, len: 4, offset: 5n, position: 600, held: 2 };
  const run = { offset: 7n, position: 800, count: 9 };
  return {
    verifiedAtMicros,
    log: { device: 1n, inode: U64_MAX, size: 5000, mtimeNs: -5n },
    index: { device: 1n, inode: 3n, size: 24, mtimeNs: 1_767_225_600_123_456_789n },
    header: '0123456789abcdef'.repeat(4),
    records: {
      records: 10,
      nextOffset: U64_MAX + 1n,
      firstOffset: 0n,
      lastOffset: U64_MAX,
      firstTimestampMicros: 1n,
      lastTimestampMicros: 2n,
      markHolds: true,
      checkedEntries: 3,
      generationStarts: [
        { offset: 1n, position: 32, payloadLen: 8, generation: 4n },
        { offset: 2n, position: 68, payloadLen: 7, generation: null },
      ],
      zeroTimestamps: run,
      batches: {
        leading: run,
        first: 'record',
        events: [
          { event: 'abandoned', batch, order: 0 },
          { event: 'orphan', run, order: 1 },
        ],
        open: batch,
        orphan: run,
      },
    },
    sums: [
      { size: 100, crc32: 0xffffffff },
      { size: 200, crc32: 0 },
    ],
  };
}

/** A segment with nothing where there may be nothing. */
function bare(verifiedAtMicros = NOW): RememberedSegment {
  return {
    ...full(verifiedAtMicros),
    index: null,
    records: {
      records: 0,
      nextOffset: null,
      firstOffset: null,
      lastOffset: null,
      firstTimestampMicros: null,
      lastTimestampMicros: null,
      markHolds: false,
      checkedEntries: 0,
      generationStarts: [],
      zeroTimestamps: null,
      batches: { leading: null, first: null, events: [], open: null, orphan: null },
    },
    sums: [],
  };
}

const inText = (value: unknown) =>
  JSON.stringify(value, (_, item: unknown) => (typeof item === 'bigint' ? String(item) : item));

const line = (shard: string, file: string, segment: object) => `${inText({ shard, file, ...segment })}\n`;

const HEAD = `${inText({ schema: 'felix-fsck.checkpoint/1', tool: TOOL, writtenAtMicros: NOW })}\n`;

/** The text of a checkpoint with these lines: a head, the lines, and a digest over all of it. */
function textOf(lines: readonly string[], head = HEAD): string {
  const body = head + lines.join('');
  const sha256 = createHash('sha256').update(body).digest('hex');
  return `${body}${inText({ segments: lines.length, sha256 })}\n`;
}

/** Opens a checkpoint, leaves nothing behind, and says what is remembered of one segment. */
async function remembered(file: string, shard = '/s', segment = '0.log', more: Partial<CheckpointOptions> = {}) {
  const checkpoint = await Checkpoint.open(file, options(more));
  try {
    return { note: checkpoint.note, segment: checkpoint.recall(shard, segment) };
  } finally {
    checkpoint.discard();
  }
}

/** Writes a text where a checkpoint may be. */
function withText(text: string | Uint8Array, work: (file: string, dir: string) => unknown): Promise<void> {
  return withMemoryDir(async (dir) => {
    const file = path.join(dir, 'checkpoint');
    writeFileSync(file, text);
    await work(file, dir);
  });
}

describe('a checkpoint that is written', () => {
  it('has a line for each segment between a head and a digest, and comes back as it was', () =>
    withMemoryDir(async (dir) => {
      const file = path.join(dir, 'checkpoint');
      const first = await Checkpoint.open(file, options());
      expect([first.note, first.recall('/s', '0.log')]).to.deep.equal([null, null]);
      first.keep('/s', new Map([['0.log', full()]]));
      first.keep(
        '/t',
        new Map([
          ['0.log', bare()],
          ['1.log', full(NOW - 1n)],
        ]),
      );
      expect(first.commit()).to.equal(0);
      first.discard();
      const lines = [line('/s', '0.log', full()), line('/t', '0.log', bare()), line('/t', '1.log', full(NOW - 1n))];
      expect(readFileSync(file, 'utf8')).to.equal(textOf(lines));
      expect(readdirSync(dir)).to.deep.equal(['checkpoint']);
      const second = await Checkpoint.open(file, options());
      expect(second.note).to.equal(null);
      expect(second.recall('/s', '0.log')).to.deep.equal(full());
      expect(second.recall('/t', '0.log')).to.deep.equal(bare());
      expect(second.recall('/t', '1.log')).to.deep.equal(full(NOW - 1n));
      expect([second.recall('/s', '1.log'), second.recall('/u', '0.log')]).to.deep.equal([null, null]);
      second.discard();
      expect(readFileSync(file, 'utf8')).to.equal(textOf(lines));
    }));

  it('keeps of a shard that was looked at what this run found, and nothing of before', () =>
    withText(
      textOf([line('/s', '0.log', full()), line('/s', '1.log', full()), line('/t', '0.log', full())]),
      async (file) => {
        const checkpoint = await Checkpoint.open(file, options());
        checkpoint.keep('/s', new Map([['1.log', bare()]]));
        checkpoint.commit();
        expect(readFileSync(file, 'utf8')).to.equal(textOf([line('/s', '1.log', bare()), line('/t', '0.log', full())]));
      },
    ));

  for (const [age, kept] of [
    [-1n, false],
    [0n, true],
    [1000n, true],
    [1001n, false],
  ] as const) {
    it(`${kept ? 'keeps' : 'drops'} of another shard what was read ${age} microseconds ago, with 1000 to go by`, () =>
      withText(textOf([line('/t', '0.log', full(NOW - age))]), async (file) => {
        (await Checkpoint.open(file, options())).commit();
        expect(readFileSync(file, 'utf8')).to.equal(textOf(kept ? [line('/t', '0.log', full(NOW - age))] : []));
      }));
  }

  it('drops what it cannot read, however long things are kept', () =>
    withText(textOf([line('/t', '0.log', { ...full(), header: 'short' })]), async (file) => {
      expect((await remembered(file, '/t')).segment).to.equal(null);
      (await Checkpoint.open(file, options({ recheckAfterMicros: 4n * NOW }))).commit();
      expect(readFileSync(file, 'utf8')).to.equal(textOf([]));
    }));

  it('is not when the run fails: the old one stays, and nothing beside it', () =>
    withText(textOf([line('/t', '0.log', full())]), async (file, dir) => {
      const checkpoint = await Checkpoint.open(file, options());
      checkpoint.keep('/t', new Map());
      expect(readdirSync(dir).length).to.equal(2);
      checkpoint.discard();
      expect(readdirSync(dir)).to.deep.equal(['checkpoint']);
      expect(readFileSync(file, 'utf8')).to.equal(textOf([line('/t', '0.log', full())]));
    }));

  it('leaves out and counts what would make it longer than one that is read', () =>
    withMemoryDir(async (dir) => {
      const file = path.join(dir, 'checkpoint');
      const lines = ['/one', '/two', '/s'].map((shard) => line(shard, '0.log', bare()));
      const [one, , last] = lines as [string, string, string];
      const end = `{"segments":2,"sha256":"${'0'.repeat(64)}"}\n`;
      // The end of the file has a kilobyte to itself.
      const maxBytes = HEAD.length + one.length + last.length + 1024;
      const checkpoint = await Checkpoint.open(file, options({ maxBytes }));
      for (const shard of ['/one', '/two', '/s']) checkpoint.keep(shard, new Map([['0.log', bare()]]));
      expect(checkpoint.commit()).to.equal(1);
      expect(readFileSync(file, 'utf8')).to.equal(textOf([one, last]));
      expect(statSync(file).size).to.equal(maxBytes - 1024 + end.length);
      expect((await remembered(file, '/s', '0.log', { maxBytes: statSync(file).size })).segment).to.deep.equal(bare());
      const shorter = { maxBytes: statSync(file).size - 1 };
      expect((await failureOfAsync(() => remembered(file, '/s', '0.log', shorter))).reason).to.equal('usage');
    }));
});

describe('a checkpoint that is read', () => {
  const lines = [line('/s', '0.log', full()), line('/s', '1.log', bare())];
  const text = textOf(lines);
  const noted = (file: string, why: string) => ({
    note: `${file} ${why}: nothing in it is used, and every segment is read`,
    segment: null,
  });

  it('is not believed when it is cut short anywhere, and not replaced when its first line is', () =>
    withText('', async (file) => {
      for (let length = 0; length < text.length - 1; length += length < HEAD.length + 2 ? 1 : 41) {
        writeFileSync(file, text.slice(0, length));
        if (length < HEAD.length) {
          expect(await failureOfAsync(() => remembered(file)), `${length}`).to.deep.equal({
            reason: 'usage',
            message: `${file}: is not a checkpoint, and is not replaced by one`,
          });
        } else expect(await remembered(file), `${length}`).to.deep.equal(noted(file, 'is cut short or was changed'));
      }
    }));

  it('is not believed when anything in it was changed', () =>
    withText('', async (file) => {
      for (const changed of [
        text.replace('"records":10', '"records":11'),
        text.replace(/"sha256":"./, '"sha256":"-'),
        `${HEAD}${lines.join('')}`,
        `${HEAD}${lines.join('')}null\n`,
        `${HEAD}${lines.join('')}{}\n`,
        HEAD + lines[1] + text.slice(HEAD.length + lines[0]!.length),
        text.slice(0, HEAD.length) + text.slice(HEAD.length + lines[0]!.length),
      ]) {
        expect(changed).to.not.equal(text);
        writeFileSync(file, changed);
        expect(await remembered(file)).to.deep.equal(noted(file, 'is cut short or was changed'));
      }
    }));

  for (const [what, head] of [
    ['another version', HEAD.replace('1.2.3', '1.2.4')],
    ['another schema', HEAD.replace('checkpoint/1', 'checkpoint/2')],
    ['nobody', `${inText({ schema: 'felix-fsck.checkpoint/1' })}\n`],
  ] as const) {
    it(`is not believed when it is by ${what}, and is replaced`, () =>
      withText(textOf(lines, head), async (file) => {
        expect(await remembered(file)).to.deep.equal(noted(file, 'was written by another version'));
        (await Checkpoint.open(file, options())).commit();
        expect(readFileSync(file, 'utf8')).to.equal(textOf([]));
      }));
  }

  for (const [what, content] of [
    ['nothing', ''],
    ['other text', 'dear diary\n'],
    ['other JSON', `{"schema":"felix-fsck.plan/1"}\n`],
    ['a schema that is no text', '{"schema":1}\n'],
    ['a list', '["felix-fsck.checkpoint/1"]\n'],
    ['null', 'null\n'],
    ['a name of the schema further on', '{"schema":"a felix-fsck.checkpoint/1"}\n'],
    ['a checkpoint that is no UTF-8', Buffer.concat([Buffer.from(text), Buffer.from([0xff])])],
  ] as const) {
    it(`is none that holds ${what}, and stays as it is`, () =>
      withText(content, async (file, dir) => {
        expect(await failureOfAsync(() => remembered(file))).to.deep.equal({
          reason: 'usage',
          message: `${file}: is not a checkpoint, and is not replaced by one`,
        });
        expect([readdirSync(dir), readFileSync(file)]).to.deep.equal([['checkpoint'], Buffer.from(content)]);
      }));
  }

  it('is none that is no file, or longer than any that is written', () =>
    withText('', async (file, dir) => {
      truncateSync(file, 32 * 1024 * 1024 + 1);
      mkdirSync(path.join(dir, 'directory'));
      for (const [name, why] of [
        ['checkpoint', 'it has 33554433 bytes, over 33554432'],
        ['directory', 'not a regular file'],
      ] as const) {
        expect(await failureOfAsync(() => remembered(path.join(dir, name)))).to.deep.equal({
          reason: 'usage',
          message: `${path.join(dir, name)}: cannot be read as a checkpoint: ${why}`,
        });
      }
    }));

  it('passes over lines that name no segment, and takes the last of two for one', () => {
    const odd = [
      'null\n',
      '7\n',
      'text\n',
      '{}\n',
      '{"shard":"/s"}\n',
      '{"file":"0.log"}\n',
      '{"shard":1,"file":"0.log"}\n',
    ];
    return withText(textOf([...odd, lines[1]!, line('/s', '0.log', bare()), lines[0]!]), async (file) => {
      expect(await remembered(file)).to.deep.equal({ note: null, segment: full() });
      expect(await remembered(file, '/s', '1.log')).to.deep.equal({ note: null, segment: bare() });
    });
  });

  it('keeps no line that names no segment, whatever else it says', () =>
    withText(textOf([line('/s', '0.log', full()).replace('"0.log"', '7'), lines[1]!]), async (file) => {
      (await Checkpoint.open(file, options())).commit();
      expect(readFileSync(file, 'utf8')).to.equal(textOf([lines[1]!]));
    }));

  it('is believed without the line feed at its end, since nothing else is missing', () =>
    withText(text.slice(0, -1), async (file) => {
      expect(await remembered(file)).to.deep.equal({ note: null, segment: full() });
    }));

  it('has nothing to remember when it has no lines', () =>
    withText(textOf([]), async (file) => {
      expect(await remembered(file)).to.deep.equal({ note: null, segment: null });
    }));
});

describe('the place of a checkpoint', () => {
  it('is outside of everything that is checked', () =>
    withMemoryDir(async (dir) => {
      const [one, two] = ['one', 'two'].map((name) => path.join(dir, name)) as [string, string];
      for (const at of [one, two, path.join(two, 'below'), `${two}-beside`]) mkdirSync(at);
      const log = path.join(two, '0.log');
      symlinkSync('two', path.join(dir, 'link'));
      symlinkSync('loop', path.join(dir, 'loop'));
      writeFileSync(path.join(two, '0.log'), '');
      const absent = path.join(dir, 'absent');
      for (const [file, checked, lies] of [
        [path.join(two, 'c'), [one, two], two],
        [path.join(two, 'below', 'c'), [absent, two], two],
        [path.join(dir, 'link', 'c'), [two], two],
        [path.join(two, 'below', 'c'), [path.join(dir, 'link')], path.join(dir, 'link')],
        [path.join(two, 'c'), [path.join(dir, 'loop'), log], log],
        [path.join(dir, 'c'), ['/'], '/'],
        ['/c', ['/'], '/'],
      ] as const) {
        expect(await failureOfAsync(() => Checkpoint.open(file, options({ checked }))), file).to.deep.equal({
          reason: 'usage',
          message: `${file} lies in ${lies}, which is checked: a checkpoint is kept elsewhere`,
        });
      }
      for (const [file, checked] of [
        [path.join(dir, 'c'), [one, two, log, absent]],
        [path.join(`${two}-beside`, 'c'), [two]],
        [path.join(two, 'below', 'c'), [path.join(two, 'below', 'absent'), one]],
      ] as const) {
        expect((await remembered(file, '/s', '0.log', { checked })).note, file).to.equal(null);
      }
    }));

  it('is in a directory that is there', () =>
    withMemoryDir(async (dir) => {
      const file = path.join(dir, 'absent', 'c');
      expect(await failureOfAsync(() => Checkpoint.open(file, options({ checked: [dir] })))).to.deep.equal({
        reason: 'usage',
        message: `${file}: its directory does not exist`,
      });
    }));
});
