/** A question is told by its words alone, whether typed or pasted, and commands carry the place that it names. */
import { expect } from 'chai';
import fc from 'fast-check';
import { BROKER_PHRASES } from '../../src/domain/broker-phrases.js';
import { CATALOGUE } from '../../src/domain/catalogue.js';
import { EXIT_CODES } from '../../src/domain/exit-codes.js';
import { filledIn, KINDS, placeholdersIn, questionIn } from '../../src/domain/explanation.js';
import type { FindingKind } from '../../src/domain/finding.js';
import { hostile } from './finding-details.js';

function kindOf(text: string): FindingKind | string {
  const question = questionIn(text);
  return question.about === 'kind' ? question.kind : question.about;
}

function suggestionsFor(text: string): readonly string[] {
  const question = questionIn(text);
  expect(question.about, text).to.equal('unknown');
  return question.about === 'unknown' ? question.suggestions : [];
}

describe('questions', () => {
  it('know every kind of the catalogue, in any case and with any separators', () => {
    expect([...KINDS].sort()).to.deep.equal(Object.keys(CATALOGUE).sort());
    for (const kind of KINDS) {
      const dashed = kind.replace(/(?!^)[A-Z]/g, '-$&');
      for (const text of [kind, kind.toLowerCase(), kind.toUpperCase(), dashed, dashed.replaceAll('-', ' ')]) {
        expect(kindOf(text), text).to.equal(kind);
      }
    }
  });

  it('know every exit code by number, and by name unless a kind has that name', () => {
    expect(kindOf('unreadable')).to.equal('Unreadable');
    for (const { code, name } of EXIT_CODES) {
      const names = name === 'unreadable' ? [] : [name];
      for (const text of [String(code), ...names, `Exit ${code}: something`, `it exited with code ${code}`]) {
        const question = questionIn(text);
        expect(question.about === 'exit-code' && question.code.code, text).to.equal(code);
      }
    }
    expect(questionIn('23').about).to.equal('unknown');
    expect(questionIn('220').about).to.equal('unknown');
  });

  it('propose the kind that was meant after a slip, and nothing for what is far from all', () => {
    expect(suggestionsFor('RecordHaederChecksum')[0]).to.equal('RecordHeaderChecksum');
    expect(suggestionsFor('truncted')[0]).to.equal('Truncated');
    expect(suggestionsFor('unreadible')[0]).to.equal('Unreadable');
    expect(suggestionsFor('ballot')).to.deep.equal(['BallotBehind', 'BallotAhead']);
    expect(suggestionsFor('kubernetes')).to.deep.equal([]);
    expect(suggestionsFor('')).to.deep.equal([]);
  });

  it('read kind, shard, segment and position out of a line of the log', () => {
    const line =
      '2026-03-01T00:00:00Z ERROR felix_storage: corruption detected: record header checksum mismatch (expected ' +
      '0x00000000, found 0xc2b6d0f5) (shard=acme/default/orders/0, segment=2, position=426)';
    const question = questionIn(line);
    expect(question.about === 'kind' && question.line).to.deep.include({
      kind: 'RecordHeaderChecksum',
      shard: 'acme/default/orders/0',
      segment: 2n,
      position: 426,
    });
  });

  it('know every phrase of a broker, also where its words hold the name of another kind', () => {
    for (const { kind, text } of BROKER_PHRASES) {
      const line = text.replace(/0x…/g, '0x00000007').replace(/\b[NM]\b/g, '7');
      expect(kindOf(`felix_broker: ${line}`), text).to.equal(kind);
    }
  });

  it('find a kind in a line of the tool’s own reports', () => {
    expect(kindOf('FATAL   segment 2, bytes 400..4496          RecordHeaderChecksum')).to.equal('RecordHeaderChecksum');
    expect(kindOf('  OffsetOutOfOrder in segment 2 at byte 0')).to.equal('OffsetOutOfOrder');
  });

  it('never fail, whatever is pasted', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(questionIn(text).about).to.be.oneOf(['kind', 'exit-code', 'unknown']);
      }),
    );
  });
});

describe('commands of the catalogue', () => {
  const place = { shard: "'a shard'", file: '00000000000000000002.log', position: 426 };

  it('are filled in with what is known', () => {
    expect(filledIn('felix-fsck hexdump FILE --at POSITION', place)).to.equal(
      "felix-fsck hexdump 'a shard'/00000000000000000002.log --at 426",
    );
    expect(filledIn('felix-fsck repair-tail --cut-at POSITION SHARD', place)).to.equal(
      "felix-fsck repair-tail --cut-at 426 'a shard'",
    );
    expect(filledIn('felix-fsck decode-manifest SHARD/offload.manifest --objects DIR', place)).to.equal(
      "felix-fsck decode-manifest 'a shard'/offload.manifest --objects DIR",
    );
  });

  it('keep a word for what is not known, and never write over the damaged file', () => {
    const nothing = { shard: null, file: null, position: null };
    expect(filledIn('felix-fsck hexdump FILE --at POSITION', nothing)).to.equal(
      'felix-fsck hexdump FILE --at POSITION',
    );
    expect(filledIn('felix-fsck evidence SHARD --to FILE', place)).to.equal("felix-fsck evidence 'a shard' --to FILE");
  });

  it('have a meaning for each such word', () => {
    const commands = KINDS.flatMap((kind) => CATALOGUE[kind].remedies.map(({ command }) => command ?? ''));
    const words = new Set(commands.flatMap((command) => command.match(/\b[A-Z]{3,}\b/g) ?? []));
    expect(words).to.include('SHARD');
    expect(placeholdersIn(commands).map(([name]) => name)).to.have.members([...words]);
  });
});
