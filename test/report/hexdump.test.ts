import { expect } from 'chai';
import type { FieldSpan } from '../../src/format/layout.js';
import { walkLayout } from '../../src/format/layout.js';
import { RECORD_LAYOUT } from '../../src/format/record.js';
import { type HexView, renderHexdump, renderHexdumpJson, renderHexdumpLine } from '../../src/report/hexdump.js';
import { displayWidth } from '../../src/report/wrap.js';
import { HOSTILE, RAW, TOOL } from '../builders/reports.js';

const BASE = 420;

/** A record of offset 16 with ten bytes of payload, an escape character among them, then zeros. */
function recordView(parts: Partial<HexView> = {}): HexView {
  const bytes = new Uint8Array(300);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, 10);
  view.setBigUint64(4, 16n);
  view.setBigUint64(12, 1_767_225_600_000_000n);
  bytes.set(new TextEncoder().encode('hello\u001b[2Jx'), 28);
  const fields = walkLayout(RECORD_LAYOUT, bytes).map((span) => ({
    ...span,
    start: span.start + BASE,
    end: span.end + BASE,
  }));
  return {
    path: '/data/00000000000000000002.log',
    size: 4522,
    base: BASE,
    bytes,
    at: 426,
    fields,
    damaged: [{ from: 440, to: 444 }],
    notes: [{ position: 440, text: 'RecordHeaderChecksum' }],
    ...parts,
  };
}

const textOf = (view: HexView, width = 80) => renderHexdump(view, { width, color: 0, unicode: true });

describe('report/hexdump', () => {
  it('shows sixteen bytes a row, names every field, and marks the damage without colour', () => {
    const lines = textOf(recordView()).split('\n');
    expect(lines.slice(0, 6)).to.deep.equal([
      '/data/00000000000000000002.log                                       4,522 bytes',
      'Bytes 420..720, positions decimal; damaged bytes in [ ]',
      '>   416              00 00 00 0a 00 00 00 00 00 00 00 10      ............',
      '        420..424 payload_len = 10 (opens 0, continues 0, generation_start 0,',
      '          length 10) - payload length in the low 29 bits, the kind of the record',
      '          in the top three',
    ]);
    expect(lines).to.include('    432  00 06 47 48 46 20 40 00[00 00 00 00]00 00 00 00  ..GHF.@.........');
    expect(lines).to.include('      ! 440..444 header_crc = 0x00000000 - CRC-32 of the header, over bytes');
    expect(lines).to.include('      ^ byte 440: RecordHeaderChecksum');
    expect(lines.join(' ').replace(/\s+/g, ' ')).to.include(
      'timestamp_micros = 1767225600000000, 2026-01-01T00:00:00.000000Z - publish time',
    );
  });

  it('never writes a byte raw', () => {
    expect(textOf(recordView()))
      .to.include('hello.[2Jx')
      .and.not.to.match(/\u001b/);
    expect(
      textOf(recordView({ path: HOSTILE, notes: [{ position: 0, text: HOSTILE }] })).replaceAll('\n', ''),
    ).not.to.match(RAW);
  });

  it('folds rows of the same bytes, but not the row asked for', () => {
    const text = textOf(recordView());
    expect(text).to.match(/^ \* 15 more rows of the same bytes, 480\.\.720$/m);
    const asked = textOf(recordView({ at: 600 }));
    expect(asked).to.match(/^> {3}592/m);
    expect(asked.match(/^ \* /gm)).to.have.length(2);
  });

  it('does not fold over the edge of damage', () => {
    const text = textOf(recordView({ damaged: [{ from: 560, to: 720 }] }));
    expect(text).to.match(/^ {4}560 \[00/m);
    expect(text.match(/^ \* /gm)).to.have.length(2);
  });

  it('tells texts, long bytes, and fields that are cut off', () => {
    const span = (parts: Partial<FieldSpan>): FieldSpan => ({
      name: 'name',
      start: 0,
      end: 4,
      type: 'utf8',
      value: 'text',
      meaning: 'm',
      partial: false,
      ...parts,
    });
    const fields = [
      span({ value: HOSTILE }),
      span({ value: null }),
      span({ type: 'bytes', value: '00000000' }),
      span({ type: 'u64', value: null, partial: true }),
      span({ type: 'u64', value: null }),
      span({ name: 'x_micros', type: 'u64', value: 2n ** 64n - 1n }),
    ];
    const text = textOf(
      recordView({ base: 0, bytes: new Uint8Array(16), at: null, fields, damaged: [], notes: [] }),
      120,
    );
    expect(text).to.include('name = "\\x1b[2J\\x07a');
    expect(text).to.include('name = 4 bytes, not UTF-8 - m');
    expect(text).to.include('name = 4 bytes - m');
    expect(text).to.include('name = cut off by the end of the bytes after 4 bytes - m');
    expect(text).to.include('name = not known - m');
    expect(text).to.include('x_micros = 18446744073709551615 microseconds - m');
  });

  it('shows a field that began before the first byte, and says when there is no byte', () => {
    const view = recordView();
    const text = textOf({ ...view, base: 422, bytes: view.bytes.subarray(2) });
    expect(text).to.include('420..424 payload_len = 10');
    expect(textOf({ ...view, bytes: new Uint8Array(0), fields: [], notes: [] })).to.include('No byte to show at 420');
  });

  it('stays within the width, with fewer bytes a row where there is little room', () => {
    for (const width of [40, 60, 80, 120]) {
      for (const base of [BASE, 2 ** 40]) {
        const lines = textOf(recordView({ base, fields: base === BASE ? recordView().fields : [] }), width).split('\n');
        for (const line of lines) {
          expect(displayWidth(line), line).to.be.at.most(width);
          expect(line).to.equal(line.trimEnd());
        }
      }
    }
  });

  it('says the same in colour', () => {
    const colored = renderHexdump(recordView(), { width: 80, color: 1, unicode: true });
    expect(colored).to.include('\u001b[');
    expect(colored.replace(/\u001b\[\d+m/g, '')).to.equal(textOf(recordView()));
  });

  it('gives JSON with the bytes as hex and the fields with their places', () => {
    const parsed = JSON.parse(renderHexdumpJson(recordView(), TOOL));
    expect(parsed).to.deep.include({
      schema: 'felix-fsck.hexdump/1',
      tool: TOOL,
      size: 4522,
      at: 426,
      from: 420,
      to: 720,
    });
    expect(parsed.hex)
      .to.have.length(600)
      .and.to.match(/^0000000a/);
    expect(parsed.fields[1]).to.deep.include({
      name: 'offset',
      from: 424,
      to: 432,
      type: 'u64',
      value: '16',
      partial: false,
    });
    expect(parsed.fields[0].bits[3]).to.deep.include({ name: 'length', value: 10 });
    expect(parsed.fields[3].covers).to.equal('bytes 0..20');
    expect(parsed.damaged).to.deep.equal([{ from: 440, to: 444 }]);
    expect(parsed.notes).to.deep.equal([{ position: 440, text: 'RecordHeaderChecksum' }]);
    const { type, ...line } = JSON.parse(renderHexdumpLine(recordView(), TOOL));
    expect(type).to.equal('hexdump');
    expect(line).to.deep.equal(parsed);
  });
});
