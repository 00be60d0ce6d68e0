/** Severities and how they rank. */
import { expect } from 'chai';
import { atLeast, SEVERITIES, worstSeverity } from '../../src/domain/finding.js';

describe('finding', () => {
  it('ranks severities from info to fatal', () => {
    expect(SEVERITIES).to.deep.equal(['info', 'warning', 'error', 'fatal']);
    SEVERITIES.forEach((severity, i) => {
      expect(SEVERITIES.map((limit) => atLeast(severity, limit))).to.deep.equal([true, i > 0, i > 1, i > 2]);
    });
  });

  it('has no worst severity among none, and the worst of many in any order', () => {
    expect(worstSeverity([])).to.equal(null);
    expect(worstSeverity([{ severity: 'info' }])).to.equal('info');
    expect(worstSeverity([{ severity: 'warning' }, { severity: 'fatal' }, { severity: 'error' }])).to.equal('fatal');
    expect(worstSeverity(new Set([{ severity: 'error' as const }, { severity: 'info' as const }]))).to.equal('error');
  });
});
