/** A plan is carried out only when its file is whole, unchanged and makes sense. */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { type ContentPart, NO_LOSS, type Plan, type PlanStep } from '../../src/domain/plan.js';
import { contradictionIn, decodePlan, encodePlan, isState, planDigest, planValue } from '../../src/repair/plan-file.js';
import { inShort } from '../../src/repair/plan-parts.js';
import { tornEverywhere } from '../builders/broken-shards.js';
import { FRAME } from '../builders/plan-inputs.js';
import { planFor, withMemoryDir } from '../builders/repairs.js';
import { prediction } from '../builders/reports.js';
import { logName, writeShardBelow } from '../builders/shards.js';

async function samplePlan(): Promise<Plan> {
  const { image, command } = tornEverywhere();
  return withMemoryDir((dir) => planFor(...command, writeShardBelow(image, dir)));
}

async function errorOf(bytes: Uint8Array): Promise<string> {
  const decoded = await decodePlan(bytes);
  return decoded.ok ? 'none' : decoded.error;
}

/** The plan with its file's own digest, as somebody would make it who knows how. */
async function forged(change: (plan: Plan) => unknown): Promise<string> {
  return errorOf(encodePlan(change(await samplePlan()) as Plan));
}

describe('a plan in a file', () => {
  it('comes back as it was, offsets and times exactly', async () => {
    const plan = await samplePlan();
    const decoded = await decodePlan(encodePlan(plan));
    expect(decoded).to.deep.equal({ ok: true, value: plan });
  });

  it('says the same in any order of keys and with any blanks', async () => {
    const plan = await samplePlan();
    const value = JSON.parse(new TextDecoder().decode(encodePlan(plan)));
    const reversed = Object.fromEntries(Object.entries(value).reverse());
    expect((await decodePlan(new TextEncoder().encode(JSON.stringify(reversed)))).ok).to.equal(true);
  });

  it('is refused when cut short anywhere', async () => {
    const bytes = encodePlan(await samplePlan());
    for (let length = 0; length < bytes.length - 2; length += 97) {
      expect(await errorOf(bytes.subarray(0, length)), `${length} bytes`).to.equal(
        'is not JSON, or only the beginning of it',
      );
    }
  });

  it('is refused when any character of a value is another', async () => {
    const text = new TextDecoder().decode(encodePlan(await samplePlan()));
    let tried = 0;
    for (let at = 0; at < text.length; at += 31) {
      if (!/[0-9a-zA-Z]/.test(text[at]!)) continue;
      const other = text[at] === '1' ? '2' : '1';
      const changed = new TextEncoder().encode(text.slice(0, at) + other + text.slice(at + 1));
      expect(await errorOf(changed), `character ${at}`).to.match(/digest does not match|is not JSON|is not a plan/);
      tried++;
    }
    expect(tried).to.be.above(50);
  });

  it('is refused when it is of another schema or no plan at all', async () => {
    const texts = ['[]', 'null', '1', '"felix-fsck.plan/1"', '{}', '{"schema":1}', '{"schema":"felix-fsck.verify/1"}'];
    for (const text of texts) expect(await errorOf(new TextEncoder().encode(text)), text).to.equal('is not a plan');
    for (const bytes of [[], [0x7b], [0x22, 0xff, 0x22]]) {
      expect(await errorOf(Uint8Array.from(bytes))).to.equal('is not JSON, or only the beginning of it');
    }
    expect(await errorOf(new TextEncoder().encode('{"schema":"felix-fsck.plan/1"}'))).to.contain(
      'its digest does not match',
    );
    const refusal = 'is not a plan that this build takes: ';
    expect(await forged((plan) => ({ ...plan, schema: 'felix-fsck.plan/2' }))).to.contain(`${refusal}schema: `);
    expect(await forged((plan) => ({ ...plan, more: 1 }))).to.contain(`${refusal}: `);
    expect(await forged((plan) => ({ ...plan, tool: { name: 1, version: '' } }))).to.contain(`${refusal}tool.name: `);
  });

  for (const file of [
    '../epochs',
    '/etc/passwd',
    'a/b',
    '..',
    '',
    'epochs\u0000',
    'notes.txt',
    '7.log',
    'storage-id',
  ]) {
    it(`is refused when a step names ${JSON.stringify(file)}, which is no file of a shard`, async () => {
      const change = (plan: Plan) => ({ ...plan, steps: [{ ...plan.steps[0]!, file }] });
      expect(await forged(change)).to.match(/it is no file of a shard/);
    });
  }

  it('is refused when two steps change one file', async () => {
    expect(await forged((plan) => ({ ...plan, steps: [...plan.steps, plan.steps[0]!] }))).to.equal(
      'contradicts itself: two steps change offload.manifest',
    );
  });

  it('is refused when a step says another size of a file than the list of files', async () => {
    const error = await forged((plan) => ({
      ...plan,
      steps: plan.steps.map((step) =>
        step.action === 'cut' ? { ...step, before: { ...step.before!, size: 1 } } : step,
      ),
    }));
    expect(error).to.match(/do not agree on 00000000000000000001\.log/);
  });
});

describe('the digest of a plan', () => {
  /** SHA-256 over the value without blanks, keys in the order of their letters. */
  const digestOf = (canonical: string) => createHash('sha256').update(canonical).digest('hex');

  it('is over the value, whatever the order of keys', () => {
    const value = { b: [3n, 'x', null, true, { d: 1, c: 'é' }], a: {}, aa: [], B: -1 } as unknown as Plan;
    const digest = digestOf('{"B":-1,"a":{},"aa":[],"b":["3","x",null,true,{"c":"é","d":1}]}');
    expect(planDigest(value)).to.equal(digest);
    const turned = { B: -1, aa: [], a: {}, b: [3n, 'x', null, true, { c: 'é', d: 1 }] } as unknown as Plan;
    expect(planDigest(turned)).to.equal(digest);
    expect(planValue(value)).to.deep.equal({
      b: ['3', 'x', null, true, { d: 1, c: 'é' }],
      a: {},
      aa: [],
      B: -1,
      sha256: digest,
    });
  });

  it('tells the order of lists, and numbers from text', () => {
    const digest = (value: unknown) => planDigest({ notes: value } as Plan);
    const all = [['a', 'b'], ['b', 'a'], ['ab'], [1, 2], ['1', 2], [], {}, null].map(digest);
    expect(new Set(all).size).to.equal(all.length);
  });
});

describe('the state of a file', () => {
  it('is the same in size and checksum, or there is none twice', () => {
    const state = { size: 1, crc32: '0x00000001' };
    expect(isState({ ...state }, state)).to.equal(true);
    expect(isState(null, null)).to.equal(true);
    for (const other of [{ ...state, size: 2 }, { ...state, crc32: '0x00000002' }, null]) {
      expect([isState(state, other), isState(other, state)]).to.deep.equal([false, false]);
    }
  });
});

describe('a plan that contradicts itself', () => {
  const state = { size: 7, crc32: '0x00000007' };
  const other = { size: 3, crc32: '0x00000003' };
  const step: PlanStep = {
    action: 'rewrite',
    file: 'epochs',
    before: state,
    after: other,
    content: [{ from: 'itself', start: 0, end: 3 }],
    ranges: [],
    why: '',
    answers: [],
  };
  const short = inShort(prediction());
  const sound: Plan = {
    schema: 'felix-fsck.plan/1',
    ...FRAME,
    command: 'heal',
    shard: { path: '/data/shard', name: 'shard', key: null },
    files: [{ file: 'epochs', ...state, mtimeNs: 1n }],
    steps: [step],
    loses: NO_LOSS,
    before: short,
    after: short,
    notes: [],
  };
  const withStep = (change: Partial<PlanStep>) => contradictionIn({ ...sound, steps: [{ ...step, ...change }] });
  const withParts = (...content: readonly ContentPart[]) => withStep({ content });
  const outside = { from: 'file', path: '/donor', crc32: '0x00000000' } as const;

  it('is told from one that does not', () => {
    expect(contradictionIn(sound)).to.equal(null);
    expect(withStep({ after: null, content: [] })).to.equal(null);
    expect(withStep({ file: 'producers', before: null, content: [{ from: 'plan', base64: 'AAAA' }] })).to.equal(null);
    expect(withParts({ from: 'itself', start: 7, end: 7 })).to.equal(null);
    expect(withParts({ ...outside, start: 0, end: 99 })).to.equal(null);
    expect(withParts({ from: 'records', segment: logName(0), end: 99, spacing: 1 })).to.equal(null);
  });

  it('names a file twice, in its list or in its steps', () => {
    expect(contradictionIn({ ...sound, files: [...sound.files, sound.files[0]!] })).to.equal('it names a file twice');
    expect(contradictionIn({ ...sound, steps: [step, step] })).to.equal('two steps change epochs');
  });

  it('has a step that does not know its file', () => {
    const words = 'a step and the list of files do not agree on ';
    expect(withStep({ before: null })).to.equal(`${words}epochs`);
    expect(withStep({ file: 'producers' })).to.equal(`${words}producers`);
    expect(withStep({ before: { ...state, size: 8 } })).to.equal(`${words}epochs`);
    expect(withStep({ before: { ...state, crc32: '0x00000008' } })).to.equal(`${words}epochs`);
  });

  it('has a step that does nothing, or gives content to what goes', () => {
    expect(withStep({ after: { ...state } })).to.equal('a step does nothing with epochs');
    expect(withStep({ file: 'producers', before: null, after: null })).to.equal('a step does nothing with producers');
    expect(withStep({ after: null })).to.equal('a step gives content to epochs, which goes');
  });

  it('has a step that takes bytes which are not there', () => {
    const backwards = 'a range of epochs ends before it starts';
    expect(withParts({ from: 'itself', start: 4, end: 3 })).to.equal(backwards);
    expect(withParts({ from: 'itself', start: 0, end: 3 }, { ...outside, start: 1, end: 0 })).to.equal(backwards);
    expect(withParts({ from: 'itself', start: 0, end: 8 })).to.equal('a step takes bytes of epochs that are not there');
    const made = withStep({ file: 'producers', before: null, content: [{ from: 'itself', start: 0, end: 1 }] });
    expect(made).to.equal('a step takes bytes of producers that are not there');
  });

  it('speaks of a shard by a name that is not the end of its path', () => {
    for (const name of ['another', 'hard', 'data/shar']) {
      expect(contradictionIn({ ...sound, shard: { ...sound.shard, name } })).to.equal(
        'the name and the path of the shard do not agree',
      );
    }
  });
});
