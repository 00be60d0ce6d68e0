/** Every output is what its schema says, for zod and for a validator that is not ours, and the schemas keep what they promised. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { SCHEMAS } from '../../src/cli/schema-table.js';
import { KINDS } from '../../src/domain/explanation.js';
import { runInProcess } from '../builders/in-process.js';
import { MAKINGS } from '../builders/kinds.js';
import { madeSchemas, PROMISED, promisedSchema } from '../builders/make-schemas.js';
import { brokenPromises } from '../builders/schema-compatibility.js';
import { age, withScratchCopy } from '../builders/scratch-copy.js';
import { SHARD_DIR_NAME, threeV3SegmentsWithBatches, writeShardBelow } from '../builders/shards.js';
import { describeWithCorpus, PROJECT_ROOT, withTempDir } from '../builders/trees.js';

const FIXTURES = path.join(PROJECT_ROOT, 'fixtures');

/** Holds a value to the schema of that name, by both validators. */
async function expectValid(name: string, value: unknown, about: string): Promise<void> {
  const validate = await validatorOf(name);
  if (!validate(value)) expect.fail(`${about}: ${JSON.stringify(validate.errors?.slice(0, 3))}`);
  const { success, error } = (await zodOf(name)).safeParse(value);
  expect(success, `${about}: ${error?.message}`).to.equal(true);
}

const validators = new Map<string, ValidateFunction>();

async function validatorOf(name: string): Promise<ValidateFunction> {
  const known = validators.get(name);
  if (known !== undefined) return known;
  const { stdout, code } = await runInProcess(['schema', name]);
  expect(code).to.equal(0);
  const made = new Ajv2020({ strict: true, allowUnionTypes: true }).compile(JSON.parse(stdout) as object);
  validators.set(name, made);
  return made;
}

async function zodOf(name: string) {
  const entry = SCHEMAS.find((each) => each.name === name);
  if (entry === undefined) expect.fail(`there is no schema ${name}`);
  return entry.load();
}

async function jsonOf(args: readonly string[]): Promise<unknown> {
  const { stdout, stderr } = await runInProcess(args);
  expect(stderr, args.join(' ')).to.equal('');
  return JSON.parse(stdout);
}

async function linesOf(args: readonly string[]): Promise<unknown[]> {
  const { stdout, stderr } = await runInProcess(args);
  expect(stderr, args.join(' ')).to.equal('');
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
}

/** Both formats of a command whose lines have a schema of their own, or the same one. */
async function expectBothValid(name: string, args: readonly string[], lineName = `${name}-line`): Promise<void> {
  const about = args.join(' ');
  await expectValid(name, await jsonOf([...args, '--format', 'json']), about);
  for (const line of await linesOf([...args, '--format', 'ndjson'])) await expectValid(lineName, line, about);
}

async function expectLooksValid(at: string): Promise<void> {
  await expectBothValid('verify', ['verify', '--jobs', '1', at]);
  await expectBothValid('inspect', ['inspect', at]);
  await expectBothValid('dump-records', ['dump-records', '--limit', '3', at]);
}

describe('schema', () => {
  it('lists the names of all schemas', async () => {
    const { stdout } = await runInProcess(['schema']);
    for (const { name } of SCHEMAS) expect(stdout).to.match(new RegExp(`^${name} `, 'm'));
    expect((await linesOf(['schema', '--format', 'ndjson'])).length).to.equal(SCHEMAS.length);
    expect(await jsonOf(['schema', '--format', 'json']))
      .to.have.property('schemas')
      .of.length(SCHEMAS.length);
  });

  it('is wrong usage for a name that there is not, with the one that was meant', async () => {
    const { code, stderr } = await runInProcess(['schema', 'verfy']);
    expect(code).to.equal(2);
    expect(stderr).to.contain('Did you mean verify?');
  });

  it('gives schemas of draft 2020-12 that a validator compiles, open to fields that are added', async () => {
    for (const { name, strict } of SCHEMAS) {
      const { stdout } = await runInProcess(['schema', name]);
      expect(JSON.parse(stdout), name).to.have.property('$schema', 'https://json-schema.org/draft/2020-12/schema');
      if (strict !== true) expect(stdout, name).not.to.contain('"additionalProperties": false');
      await validatorOf(name);
    }
  });

  it('refuses a document with a field renamed or of another type', async () => {
    const document = (await jsonOf([
      'verify',
      '--jobs',
      '1',
      '--format',
      'json',
      path.join(FIXTURES, 'zero-tail'),
    ])) as {
      shards: { findings: { detail: Record<string, unknown>; site: Record<string, unknown> }[] }[];
    };
    const validate = await validatorOf('verify');
    expect(validate(document)).to.equal(true);
    const edits: ((copy: typeof document) => void)[] = [
      (copy) => rename(copy.shards[0]!, 'tailOffset', 'tail'),
      (copy) => rename(copy.shards[0]!.findings[0]!, 'message', 'text'),
      (copy) => rename(copy.shards[0]!.findings[0]!.detail, 'expected', 'stored'),
      (copy) => Object.assign(copy.shards[0]!.findings[0]!.site, { segment: 2 }),
      (copy) => Object.assign(copy.shards[0]!.findings[0]!, { kind: 'RecordHeaderCheck' }),
      (copy) => Object.assign(copy, { schema: 'felix-fsck.verify/2' }),
    ];
    for (const edit of edits) {
      const copy = structuredClone(document);
      edit(copy);
      expect(validate(copy), String(edit)).to.equal(false);
      expect((await zodOf('verify')).safeParse(copy).success, String(edit)).to.equal(false);
    }
    expect(validate({ ...document, added: 1 })).to.equal(true);
  });
});

function rename(object: object, from: string, to: string): void {
  const record = object as Record<string, unknown>;
  record[to] = record[from];
  delete record[from];
}

describe('schemas of outputs', function () {
  this.timeout(60_000);

  for (const name of readdirSync(FIXTURES).filter((each) => !each.includes('.'))) {
    it(`describe what is seen of the fixture ${name}`, async () => {
      await expectLooksValid(path.join(FIXTURES, name));
    });
  }

  for (const kind of KINDS) {
    it(`describe what is seen of a shard with ${kind}`, async () => {
      await withTempDir(async (dir) => {
        MAKINGS[kind].make(dir);
        age(dir);
        await expectLooksValid(dir);
        const manifest = path.join(dir, SHARD_DIR_NAME, 'offload.manifest');
        if (existsSync(manifest)) await expectBothValid('decode-manifest', ['decode-manifest', manifest]);
      });
    });
  }

  it('describe what inspect and hexdump say of files of every kind', async () => {
    for (const folder of ['healthy', 'flipped-bit-in-length', 'offload-with-a-hole', 'damaged-replica-file']) {
      const shard = path.join(FIXTURES, folder, SHARD_DIR_NAME);
      for (const name of readdirSync(shard)) {
        await expectBothValid('inspect', ['inspect', '--full', path.join(shard, name)]);
        await expectBothValid('hexdump', ['hexdump', '--at', '20', path.join(shard, name)], 'hexdump');
      }
    }
  });

  it('describe records with marks, with decoded payloads, withheld ones, and offsets that are not there', async () => {
    const cache = path.join(FIXTURES, 'data-root-with-one-bad-shard/caches/acme_default_sessions_0-bfcd5fd64b667526');
    await expectBothValid('dump-records', ['dump-records', '--decode', 'cache', cache]);
    await expectBothValid('dump-records', ['dump-records', '--redact', path.join(FIXTURES, 'healthy')]);
    await expectBothValid('dump-records', ['dump-records', '--from', '2', path.join(FIXTURES, 'offload-with-a-hole')]);
    await expectBothValid('dump-records', ['dump-records', '--from', '900', path.join(FIXTURES, 'healthy')]);
    await withTempDir(async (dir) => {
      const shard = writeShardBelow(threeV3SegmentsWithBatches().image, dir);
      await expectBothValid('dump-records', ['dump-records', shard]);
      await expectBothValid('dump-records', ['dump-records', '--decode', 'counter', shard]);
    });
  });

  it('describe where records are, or are not', async () => {
    const asked = [
      ['healthy', '7'],
      ['flipped-bit-in-length', '17'],
      ['offload-with-a-hole', '3'],
      ['offload-with-a-hole', '7'],
      ['missing-segment', '9'],
      ['healthy', '99999'],
    ];
    for (const [folder, offset] of asked) {
      await expectBothValid('locate', ['locate', path.join(FIXTURES, folder!, SHARD_DIR_NAME), offset!], 'locate');
    }
    const shard = path.join(FIXTURES, 'healthy', SHARD_DIR_NAME);
    await expectBothValid('locate', ['locate', '--time', '2026-01-01T00:00:01Z', shard], 'locate');
  });

  it('describe replicas side by side, and a manifest with its objects', async () => {
    const replicas = ['broker-a', 'broker-b', 'broker-c'].map((broker) =>
      path.join(FIXTURES, 'diverged-replicas', broker, SHARD_DIR_NAME),
    );
    await expectBothValid('diff-epochs', ['diff-epochs', ...replicas]);
    const shard = path.join(FIXTURES, 'offload-with-a-hole', SHARD_DIR_NAME);
    const objects = path.join(FIXTURES, 'offload-with-a-hole/objects');
    await expectBothValid('decode-manifest', ['decode-manifest', '--objects', objects, shard]);
  });

  it('describe a repair from its plan to its undoing, and what a salvage leaves', async () => {
    await withScratchCopy('fixtures', async ({ dir }) => {
      const shard = (folder: string) => path.join(dir, 'fixtures', folder, SHARD_DIR_NAME);
      const plan = path.join(dir, 'plan.json');
      const tail = ['repair-tail', '--allow', 'zero-tail', shard('zero-tail')];
      await expectValid('plan', await jsonOf([...tail, '--plan-out', plan, '--format', 'json']), 'repair-tail');
      const index = ['rebuild-index', '--format', 'json', shard('index-points-elsewhere')];
      await expectValid('plan', await jsonOf(index), 'rebuild-index');
      const applied = await runInProcess(['apply', '--yes', '--format', 'json', plan]);
      const receipt = JSON.parse(applied.stdout) as { journal: string };
      await expectValid('receipt', receipt, 'apply');
      const record = JSON.parse(readFileSync(path.join(receipt.journal, 'journal.json'), 'utf8')) as object;
      await expectValid('journal', record, 'the journal of apply');
      const undone = await runInProcess(['undo', '--yes', '--format', 'json', receipt.journal]);
      await expectValid('undo', JSON.parse(undone.stdout), 'undo');
      const out = path.join(dir, 'salvaged');
      const salvaged = await jsonOf(['salvage', '--no-progress', '--format', 'json', '--to', out, shard('zero-tail')]);
      await expectValid('salvage', salvaged, 'salvage');
      await expectValid('salvage', JSON.parse(readFileSync(path.join(out, 'salvage.json'), 'utf8')), 'salvage.json');
    });
  });

  it('describe what explain says of everything', async () => {
    await expectValid('explain', await jsonOf(['explain', '--format', 'json']), 'the list');
    for (const line of await linesOf(['explain', '--format', 'ndjson'])) await expectValid('explain', line, 'a line');
    const site = '(shard=acme/default/orders/0, segment=2, position=426)';
    for (const text of [
      `corruption detected: record header checksum mismatch (expected 0x00000000, found 0xc2b6d0f5) ${site}`,
      `corruption detected: offset out of order (expected 8, found 9) ${site}`,
      `corruption detected: truncated: needed 28 bytes, 3 available ${site}`,
      'corruption detected: unsupported segment version 9 (segment=1)',
    ]) {
      await expectValid('explain', await jsonOf(['explain', '--format', 'json', text]), text);
    }
  });
});

describeWithCorpus('schemas of outputs over the corpus', (corpus) => {
  const cases = path.join(corpus, 'cases');
  for (const name of readdirSync(cases).filter((each) => !each.includes('.'))) {
    it(`describe what is seen of ${name}`, async () => {
      await expectLooksValid(path.join(cases, name));
    });
  }
});

describe('schemas under one number', () => {
  it('keep everything that they promised', async () => {
    for (const { file, schema } of await madeSchemas()) {
      const promised = promisedSchema(file);
      if (promised === null) expect.fail(`${file} is not stored: node dist/test/builders/make-schemas.js writes it`);
      expect(brokenPromises(promised, schema), `${file} breaks its readers`).to.deep.equal([]);
    }
  });

  it('are stored as they are, so that the next change is held to them (make-schemas.js writes additions)', async () => {
    const made = await madeSchemas();
    for (const { file, schema } of made) expect(promisedSchema(file), file).to.deep.equal(schema);
    const files = readdirSync(PROMISED);
    expect(files).to.include.members(made.map(({ file }) => file));
    for (const file of files) expect(readFileSync(path.join(PROMISED, file), 'utf8'), file).to.match(/\n$/);
  });
});
