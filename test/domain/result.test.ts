/** Results, failures and bugs stay three things. */
import { expect } from 'chai';
import { assertNever, err, FailureError, fail, invariant, ok } from '../../src/domain/result.js';

describe('result', () => {
  it('holds a value or a reason', () => {
    expect(ok(1)).to.deep.equal({ ok: true, value: 1 });
    expect(err('why')).to.deep.equal({ ok: false, error: 'why' });
  });

  it('carries a failure as it is, with its sentence as the message', () => {
    const failure = { reason: 'part-way', message: 'the disk is full', journal: 'x.journal' } as const;
    expect(() => fail(failure))
      .to.throw(FailureError, 'the disk is full')
      .with.property('failure', failure);
  });

  it('reports a broken assumption as a bug, which is no failure', () => {
    expect(() => invariant(true, 'holds')).to.not.throw();
    expect(() => invariant(false, 'one and one is two'))
      .to.throw(Error, 'broken assumption: one and one is two')
      .and.not.instanceOf(FailureError);
    expect(() => assertNever('surprise' as never)).to.throw('broken assumption: unexpected value "surprise"');
  });
});
