import { expect } from 'chai';
import fc from 'fast-check';
import { ByteWriter, dataOf, Literal } from '../../src/report/byte-writer.js';
import { toJson } from '../../src/report/json.js';

/** What `write` writes behind a few bytes of its own, so that nothing is aligned by luck. */
function written(write: (out: ByteWriter) => void, before = 0): string {
  const out = new ByteWriter();
  out.text('.'.repeat(before));
  out.ensure(512);
  write(out);
  return Buffer.from(out.written).toString('utf8').slice(before);
}

function jsonOf(bytes: Uint8Array, start = 0, end = bytes.length): string {
  return written((out) => out.jsonText(bytes, dataOf(bytes), start, end), 3);
}

describe('report/byte-writer', () => {
  it('writes any whole number of a u64 in decimal digits', () => {
    const edges = Array.from({ length: 65 }, (_, bits) => [2n ** BigInt(bits) - 1n, 2n ** BigInt(bits)]).flat();
    const tens = Array.from({ length: 20 }, (_, digits) => [10n ** BigInt(digits) - 1n, 10n ** BigInt(digits)]).flat();
    const check = (value: bigint) => {
      const halves = [Number(value >> 32n), Number(value & 0xffff_ffffn)] as const;
      expect(written((out) => out.u64(...halves), 5)).to.equal(value.toString());
      if (value <= 2n ** 53n) expect(written((out) => out.decimal(Number(value)))).to.equal(value.toString());
    };
    for (const value of [...edges, ...tens]) if (value < 2n ** 64n) check(value);
    fc.assert(fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), check));
  });

  it('writes hex digits, bytes and literals as they are', () => {
    expect(written((out) => out.hex32(0xdeadbeef))).to.equal('deadbeef');
    expect(written((out) => out.hex32(0x1f))).to.equal('0000001f');
    expect(written((out) => out.hexByte(0xa7))).to.equal('a7');
    expect(written((out) => out.byte(0x7d))).to.equal('}');
    for (const text of ['', 'x', '12345678', '123456789', ',"payload":"']) {
      expect(written((out) => out.literal(new Literal(text)), 1)).to.equal(text);
    }
    expect(() => new Literal('\u00e9')).to.throw();
  });

  it('writes base64 that gives back the same bytes, from any place in a buffer', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), fc.nat(3), fc.nat(3), (bytes, before, behind) => {
        const whole = new Uint8Array([...Array(before).fill(0xff), ...bytes, ...Array(behind).fill(0xff)]);
        const text = written((out) => out.base64(whole, dataOf(whole), before, before + bytes.length), behind);
        expect(text).to.equal(Buffer.from(bytes).toString('base64'));
      }),
    );
  });

  it('writes a JSON string that parses back to the text, with nothing in it that a terminal obeys', () => {
    const check = (text: string) => {
      const bytes = new TextEncoder().encode(text);
      const json = jsonOf(bytes);
      expect(JSON.parse(json)).to.equal(text);
      expect(json).to.not.match(/[\u0000-\u001f\u007f-\u009f\u2028\u202e\u200b\ufeff]/);
    };
    for (let code = 0; code < 256; code++) {
      for (const place of ['', 'a', 'ab', 'abc']) check(`${place}${String.fromCharCode(code)}tail of it`);
    }
    check('\ufeffmark, \u2028 and \u202eorder, \ud83d\ude00 and \u200b');
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 60 }), check));
    fc.assert(fc.property(fc.string({ unit: 'grapheme-ascii', maxLength: 60 }), check));
  });

  it('writes every character of UTF-8 as JSON does elsewhere', () => {
    for (let block = 0; block < 0x11_0000; block += 0x800) {
      if (block >= 0xd800 && block < 0xe000) continue;
      const text = String.fromCodePoint(...Array.from({ length: 0x800 }, (_, i) => block + i));
      expect(jsonOf(new TextEncoder().encode(text))).to.equal(toJson(text));
    }
  });

  it('writes null for bytes that are not UTF-8, lone surrogates among them', () => {
    for (const bytes of [[0xff], [0x61, 0xed, 0xa0, 0x80], [0xc3], [0xc0, 0x80], [0xf4, 0x90, 0x80, 0x80]]) {
      expect(jsonOf(Uint8Array.from(bytes))).to.equal('null');
    }
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 24 }), (bytes) => {
        const text = JSON.parse(jsonOf(bytes)) as string | null;
        const isUtf8 = Buffer.from(Buffer.from(bytes).toString('utf8'), 'utf8').equals(Buffer.from(bytes));
        expect(text === null).to.equal(!isUtf8);
        if (text !== null) expect(Buffer.from(text, 'utf8')).to.deep.equal(Buffer.from(bytes));
      }),
    );
  });

  it('grows for what is written and keeps it, and forgets it when it is cleared', () => {
    const out = new ByteWriter();
    const bytes = new Uint8Array(1 << 20).fill(7);
    for (let i = 0; i < 3; i++) {
      out.text('\u001b');
      out.jsonText(bytes, dataOf(bytes), 0, bytes.length);
    }
    const expected = `\u001b"${'\\u0007'.repeat(1 << 20)}"`.repeat(3);
    expect(Buffer.from(out.written).equals(Buffer.from(expected))).to.equal(true);
    out.clear();
    out.raw(Uint8Array.of(1, 2, 3));
    expect([...out.written]).to.deep.equal([1, 2, 3]);
  });
});
