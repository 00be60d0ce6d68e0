/** A plan is carried out only when its file is whole, unchanged and makes sense. */
import { expect } from 'chai';
import type { Plan } from '../../src/domain/plan.js';
import { contradictionIn, decodePlan, encodePlan } from '../../src/repair/plan-file.js';
import { tornEverywhere } from '../builders/broken-shards.js';
import { planFor, withMemoryDir } from '../builders/repairs.js';
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
    expect(await errorOf(new TextEncoder().encode('[]'))).to.equal('is not a plan');
    expect(await errorOf(new TextEncoder().encode('{"schema":"felix-fsck.verify/1"}'))).to.equal('is not a plan');
    expect(await forged((plan) => ({ ...plan, schema: 'felix-fsck.plan/2' }))).to.match(
      /not a plan that this build takes/,
    );
    expect(await forged((plan) => ({ ...plan, more: 1 }))).to.match(/not a plan that this build takes/);
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
    expect(await forged((plan) => ({ ...plan, steps: [...plan.steps, plan.steps[0]!] }))).to.match(/two steps change/);
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

  it('is refused when a step takes bytes that its file does not have', async () => {
    const plan = await samplePlan();
    const steps = plan.steps.map((step) =>
      step.file === logName(1) ? { ...step, content: [{ from: 'itself' as const, start: 0, end: 1e9 }] } : step,
    );
    expect(contradictionIn({ ...plan, steps })).to.match(/bytes of .* that are not there/);
  });

  it('is refused when a step leaves its file as it is', async () => {
    const plan = await samplePlan();
    const [first] = plan.steps;
    expect(contradictionIn({ ...plan, steps: [{ ...first!, after: first!.before }] })).to.match(/does nothing with/);
  });

  it('is refused when name and path of the shard do not agree', async () => {
    const plan = await samplePlan();
    expect(contradictionIn({ ...plan, shard: { ...plan.shard, name: 'another' } })).to.match(/name and the path/);
  });
});
