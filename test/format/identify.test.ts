import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { type IdentityKind, identify } from '../../src/format/identify.js';
import { describeWithCorpus } from '../builders/trees.js';
import { hex } from './sidecar-rules.js';

function kindOf(bytes: Uint8Array | string, size?: number): IdentityKind {
  const first = typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
  return identify(first, size ?? first.length).kind;
}

describe('format/identify', () => {
  it('every file kind of the format is known by its magic', () => {
    const magics: readonly (readonly [string, IdentityKind])[] = [
      ['FLSG', 'segment'],
      ['FLSI', 'segment-index'],
      ['FLEP', 'epochs'],
      ['FLRS', 'replica'],
      ['FLBL', 'ballot'],
      ['FLOF', 'offload.manifest'],
      ['FLPS', 'producers'],
      ['FXIX', 'keys.idx'],
      ['FLID', 'storage-id'],
      ['FLRN', 'run-state'],
      ['FLRG', 'registration'],
      ['FLX1', 'felix-wire'],
    ];
    for (const [magic, kind] of magics) {
      expect(kindOf(`${magic}\0\x01\0\0`), magic).to.equal(kind);
      expect(kindOf(magic), magic).to.equal(kind);
    }
  });

  it('the version of a Felix file is said, known or not', () => {
    expect(identify(hex('464c5347 0009'), 4096).description).to.equal('a Felix segment of version 9');
    expect(identify(hex('464c5347 00'), 5).description).to.equal('a Felix segment, cut off in its version');
  });

  it('common strangers are known by their magic', () => {
    expect(kindOf(hex('1f8b08'))).to.equal('gzip');
    expect(kindOf(hex('28b52ffd00'))).to.equal('zstd');
    expect(kindOf(hex('04224d1800'))).to.equal('lz4');
    expect(kindOf(hex('fd377a585a0000'))).to.equal('xz');
    expect(kindOf(hex('425a683931'))).to.equal('bzip2');
    expect(kindOf(hex('504b030414'))).to.equal('zip');
    expect(kindOf(hex('504b0506'))).to.equal('zip');
    expect(kindOf(hex('7f454c4602'))).to.equal('elf');
    expect(kindOf(hex('00051607'))).to.equal('apple-double');
  });

  it('emptiness is the size, not a lack of bytes looked at', () => {
    expect(kindOf('', 0)).to.equal('empty');
    expect(kindOf('', 10)).to.equal('unknown');
  });

  it('zeros are said of the bytes looked at alone', () => {
    expect(identify(new Uint8Array(8), 8)).to.deep.equal({ kind: 'zeros', description: 'zeros only' });
    expect(identify(new Uint8Array(8), 9).description).to.equal('zeros, at least in its first 8 bytes');
  });

  it('text is ASCII or UTF-8 without control characters, a cut character at the end forgiven', () => {
    expect(identify(Buffer.from('hello\n'), 6)).to.deep.equal({ kind: 'text', description: 'ASCII text' });
    expect(identify(Buffer.from('héllo'), 99).description).to.equal('UTF-8 text, by its beginning');
    expect(kindOf(Buffer.from('hé').subarray(0, 2), 99)).to.equal('text');
    expect(kindOf(Buffer.from('hé').subarray(0, 2))).to.equal('unknown');
    expect(kindOf('a\0b')).to.equal('unknown');
    expect(kindOf('FLS')).to.equal('text');
  });

  it('JSON is told from other text by its beginning', () => {
    for (const json of ['{"a":1}', ' \n[{"a":1}]', '{}', '[]', '[[1]]', '{\n  "schema"', '\ufeff{"a":1}']) {
      expect(kindOf(json, 500), json).to.equal('json');
    }
    for (const text of ['{a}', '[2024-01-01] started', 'x {"a":1}', '"a"']) expect(kindOf(text), text).to.equal('text');
  });

  it('bytes of no known kind are unknown', () => {
    expect(kindOf(hex('00000001'))).to.equal('unknown');
    expect(kindOf(hex('ff'))).to.equal('unknown');
  });

  it('no bytes make it throw', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), fc.nat(100), (bytes, size) => {
        expect(identify(bytes, size).description).to.be.a('string');
      }),
    );
  });

  describeWithCorpus('of the corpus', (corpus) => {
    it('every file of a healthy data root is what its name says', () => {
      const root = path.join(corpus, 'cases', 'root-clean');
      let seen = 0;
      for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile() || entry.parentPath.includes('.deleted')) continue;
        const file = path.join(entry.parentPath, entry.name);
        const { kind } = identify(readFileSync(file).subarray(0, 512), statSync(file).size);
        const extension = path.extname(entry.name);
        const text = entry.name === 'node-id' || entry.parentPath.includes('.streams');
        const named = text
          ? 'text'
          : extension === '.log'
            ? 'segment'
            : extension === '.index'
              ? 'segment-index'
              : entry.name;
        expect(kind, file).to.equal(named);
        seen++;
      }
      expect(seen).to.be.greaterThan(10);
    });
  });
});
