import { expect } from 'chai';
import fc from 'fast-check';
import {
  CACHE_RECORD_LAYOUT,
  COUNTER_RECORD_LAYOUT,
  decodeCacheRecord,
  decodeCounterRecord,
  encodeCacheRecord,
  encodeCounterRecord,
} from '../../src/format/cache-record.js';
import { walkLayout } from '../../src/format/layout.js';
import { extended, hex, layoutValues, patched, text, u64 } from './sidecar-rules.js';

const PUT = hex('01 00 0807060504030201 03000000 c3a92f aabb');
const DELETE = hex('01 01 0000000000000000 01000000 7a');
const DELTA = hex('01 00 feffffffffffffff 01000000 6e');
const CHECKPOINT = hex('01 01 0000000000000080 00000000');

describe('format/cache-record', () => {
  it('a cache record is read little-endian', () => {
    const put = { op: 'put', expiresAtMillis: 0x0102030405060708n, key: 'é/', value: hex('aabb') } as const;
    const gone = { op: 'delete', expiresAtMillis: 0n, key: 'z', value: new Uint8Array(0) } as const;
    expect(decodeCacheRecord(PUT)).to.deep.equal({ ok: true, value: put });
    expect(decodeCacheRecord(DELETE)).to.deep.equal({ ok: true, value: gone });
    expect(encodeCacheRecord(put)).to.deep.equal(PUT);
    expect(encodeCacheRecord(gone)).to.deep.equal(DELETE);
    expect(layoutValues(CACHE_RECORD_LAYOUT, PUT)).to.deep.equal({
      version: 1,
      op: 0,
      expires_at_millis: 0x0102030405060708n,
      key_len: 3,
      key: 'é/',
      value: 'aabb',
    });
  });

  it('a counter record is read little-endian, and signed', () => {
    const delta = { op: 'delta', value: -2n, key: 'n' } as const;
    const checkpoint = { op: 'checkpoint', value: -(2n ** 63n), key: '' } as const;
    expect(decodeCounterRecord(DELTA)).to.deep.equal({ ok: true, value: delta });
    expect(decodeCounterRecord(CHECKPOINT)).to.deep.equal({ ok: true, value: checkpoint });
    expect(encodeCounterRecord(delta)).to.deep.equal(DELTA);
    expect(encodeCounterRecord(checkpoint)).to.deep.equal(CHECKPOINT);
    expect(layoutValues(COUNTER_RECORD_LAYOUT, DELTA)).to.include({ value: -2n, key: 'n' });
  });

  it('what does not fit has a reason, and is never guessed', () => {
    const reasons = (payload: Uint8Array) =>
      [decodeCacheRecord(payload), decodeCounterRecord(payload)].map((decoded) => (decoded.ok ? null : decoded.error));
    const both = (reason: string) => [reason, reason];
    expect(reasons(new Uint8Array(0))).to.deep.equal(both('ends after 0 of the 14 bytes of its head'));
    expect(reasons(patched(DELTA, 0, 2))).to.deep.equal(both('has version 2, and only 1 is known'));
    expect(reasons(patched(DELTA, 1, 2))).to.deep.equal(both('has op 2, neither 0 nor 1'));
    expect(reasons(patched(DELTA, 13, 0xff))).to.deep.equal(both('claims a key of 4278190081 bytes, and has 1'));
    expect(reasons(patched(DELTA, 14, 0xff))).to.deep.equal(both('has a key that is not UTF-8'));
    expect(reasons(extended(DELTA, 0))).to.deep.equal([null, 'has 1 bytes after the key']);
  });

  it('looking leaves the payload as it was, a Buffer included', () => {
    const payload = Buffer.from(PUT);
    decodeCacheRecord(payload);
    decodeCounterRecord(payload);
    walkLayout(CACHE_RECORD_LAYOUT, payload);
    expect(payload.equals(PUT)).to.equal(true);
  });

  it('what is encoded is decoded', () => {
    const bytes = fc.uint8Array({ maxLength: 40 });
    const cache = fc.record({
      op: fc.constantFrom('put' as const, 'delete' as const),
      expiresAtMillis: u64,
      key: text,
      value: bytes,
    });
    const counter = fc.record({
      op: fc.constantFrom('delta' as const, 'checkpoint' as const),
      value: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      key: text,
    });
    fc.assert(
      fc.property(cache, counter, (put, count) => {
        expect(decodeCacheRecord(encodeCacheRecord(put))).to.deep.equal({ ok: true, value: put });
        expect(decodeCounterRecord(encodeCounterRecord(count))).to.deep.equal({ ok: true, value: count });
      }),
    );
  });

  it('no bytes make a decoder throw', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), fc.boolean(), (any, start) => {
        const payload = start ? patched(extended(any, ...PUT), 0, 1, 0) : any;
        decodeCacheRecord(payload);
        decodeCounterRecord(payload);
      }),
    );
  });
});
