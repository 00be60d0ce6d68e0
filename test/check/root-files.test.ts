import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { checkDirectoryName, checkRootFiles, type RootInput } from '../../src/check/root-files.js';
import { encodeUtf8 } from '../../src/format/bytes.js';
import { keyLabel, parseKeyLabel, shardDirectoryName } from '../../src/format/names.js';
import { encodeRegistration } from '../../src/format/registration.js';
import { encodeRunState } from '../../src/format/run-state.js';
import { encodeStorageId } from '../../src/format/storage-id.js';
import { MemorySource, ReadFailure } from '../../src/store/byte-source.js';
import { SUBJECT, told } from '../builders/facts.js';
import { SHARD_DIR_NAME } from '../builders/shards.js';
import { describeWithCorpus } from '../builders/trees.js';

const ID = '000102030405060708090a0b0c0d0e0f';
const OTHER_ID = 'ff0102030405060708090a0b0c0d0e0f';

function rootOf(files: Readonly<Record<string, Uint8Array>>, rest: Partial<RootInput> = {}): RootInput {
  return {
    path: '/data',
    read: (name) => {
      const bytes = files[name];
      return bytes === undefined ? null : Object.assign(new MemorySource(bytes), { close() {} });
    },
    streams: [],
    deleted: [],
    ...rest,
  };
}

const sound = {
  'storage-id': encodeStorageId({ id: ID, layout: 'padded' }),
  'run-state': encodeRunState({ state: 'stopped', acknowledgesBeforeSync: true, id: ID }),
  registration: encodeRegistration({ incarnation: 9n, layout: 'packed' }),
  'node-id': encodeUtf8('broker-1\n'),
  '.streams/orders-1': encodeUtf8('incarnation 6411a0ccf2e40\n'),
};

const judged = (files: Readonly<Record<string, Uint8Array>>) => checkRootFiles(rootOf(files));

describe('checkRootFiles', () => {
  it('tells what the files say, and which layout the two unspecified ones have', () => {
    const { report, notChecked } = checkRootFiles(rootOf(sound, { streams: ['orders-1'], deleted: ['gone_0'] }));
    expect(report).to.deep.equal({
      path: '/data',
      findings: [],
      storageId: ID,
      runState: { state: 'stopped', acknowledgesBeforeSync: true, id: ID },
      registration: 9n,
      nodeId: 'broker-1',
      layouts: { 'storage-id': 'padded', registration: 'packed' },
      streams: [{ name: 'orders-1', text: 'incarnation 6411a0ccf2e40\n' }],
      deleted: ['gone_0'],
    });
    expect(notChecked).to.deep.equal([]);
  });

  it('an empty root says nothing', () => {
    const { report, notChecked } = judged({});
    expect(report.findings).to.deep.equal([]);
    expect([report.storageId, report.runState, report.registration, report.nodeId]).to.deep.equal([
      null,
      null,
      null,
      null,
    ]);
    expect(notChecked).to.deep.equal([]);
  });

  it('UncleanStop: a warning when records were acknowledged before syncing, else info', () => {
    const running = (acknowledgesBeforeSync: boolean) =>
      told(
        judged({ ...sound, 'run-state': encodeRunState({ state: 'running', acknowledgesBeforeSync, id: ID }) }).report,
      );
    expect(running(true)).to.deep.equal(['warning UncleanStop run-state@6']);
    expect(running(false)).to.deep.equal(['info UncleanStop run-state@6']);
  });

  it('StorageIdMismatch: the run began under another id', () => {
    const runState = encodeRunState({ state: 'stopped', acknowledgesBeforeSync: false, id: OTHER_ID });
    const { report } = judged({ ...sound, 'run-state': runState });
    expect(told(report)).to.deep.equal(['warning StorageIdMismatch run-state@8']);
    expect(report.findings[0]?.detail).to.deep.equal({ storageId: ID, runState: OTHER_ID });
    expect(judged({ 'run-state': runState }).notChecked).to.have.lengthOf(1);
  });

  it('damage is an error, gives no value, and ends no other judgement', () => {
    const rotten = (name: 'storage-id' | 'run-state' | 'registration') => {
      const bytes = sound[name].slice();
      bytes[9] = (bytes[9] ?? 0) ^ 4;
      return judged({ ...sound, [name]: bytes });
    };
    expect(told(rotten('storage-id').report)).to.deep.equal(['error SidecarChecksum storage-id@24']);
    expect(rotten('storage-id').report.storageId).to.equal(null);
    expect(told(rotten('run-state').report)).to.deep.equal(['error SidecarChecksum run-state@24']);
    expect(rotten('run-state').report.runState).to.equal(null);
    expect(rotten('run-state').report.storageId).to.equal(ID);
    expect(rotten('registration').report.findings.map(({ severity }) => severity)).to.deep.equal(['error']);
    expect(rotten('registration').report.layouts).to.deep.equal({ 'storage-id': 'padded' });
  });

  it('a file that cannot be read is unreadable, and the others are judged', () => {
    const { read } = rootOf(sound);
    const input = rootOf(sound, {
      read: (name) => {
        if (name === 'node-id') return read(name);
        throw new ReadFailure('EACCES', 0, 'permission denied');
      },
      streams: ['orders-1'],
    });
    const { report } = checkRootFiles(input);
    expect(told(report)).to.deep.equal([
      'error Unreadable storage-id@0',
      'error Unreadable run-state@0',
      'error Unreadable registration@0',
      'error Unreadable .streams/orders-1@0',
    ]);
    expect(report.nodeId).to.equal('broker-1');
  });

  it('no more text is shown than there is room for', () => {
    const { report, notChecked } = judged({ 'node-id': new Uint8Array(100_000).fill(97) });
    expect(report.nodeId).to.have.lengthOf(4096);
    expect(notChecked).to.have.lengthOf(1);
  });
});

describe('checkDirectoryName', () => {
  const key = parseKeyLabel('acme/default/orders/0')!;
  const named = (name: string, given = false) => checkDirectoryName(name, given ? key : null, SUBJECT);

  it('a name with the hash of the key, with an incarnation or without one, is right', () => {
    for (const name of [SHARD_DIR_NAME, shardDirectoryName(key, 0x6411a0ccf2e40n)]) {
      for (const given of [true, false]) expect(named(name, given)).to.deep.equal({ findings: [], notChecked: [] });
    }
  });

  it('a hash of another key is an error, only when the key is given', () => {
    const other = 'acme_default_orders_0-0d3aed4b998d2799-0006411a0ccf2e40';
    expect(named(other).findings).to.deep.equal([]);
    const { findings } = named(other, true);
    expect(told({ findings })).to.deep.equal(['error DirectoryName -']);
    expect(findings[0]?.detail).to.deep.equal({
      expected: 'acme_default_orders_0-0d3aed4b998d2798-0006411a0ccf2e40',
      found: other,
      why: `its hash is not that of ${keyLabel(key)}`,
    });
    expect(findings[0]?.path).to.equal(SUBJECT.path);
  });

  it('an incarnation is sixteen lower-case hex digits above 0', () => {
    for (const suffix of [
      '-',
      '-1',
      '-0006411A0CCF2E40',
      '-0000000000000000',
      '-0006411a0ccf2e400',
      '-0006411a0ccf2e4g',
    ]) {
      expect(told(named(SHARD_DIR_NAME + suffix))).to.deep.equal(['error DirectoryName -'], suffix);
    }
    expect(told(named(`${SHARD_DIR_NAME}.bak`))).to.deep.equal([]);
  });

  it('a name without a hash proves nothing', () => {
    expect(named('shard-copy')).to.deep.equal({ findings: [], notChecked: [] });
    expect(named('shard-copy', true).findings).to.deep.equal([]);
    expect(named('shard-copy', true).notChecked).to.have.lengthOf(1);
  });
});

describeWithCorpus('data roots of the corpus', (corpus) => {
  const lines = readFileSync(path.join(corpus, 'cases/expected.ndjson'), 'utf8').trim().split('\n');
  const cases = lines.map((line) => JSON.parse(line)).filter((line) => /^(root-|stopped-)/.test(line.case));
  for (const expected of cases) {
    it(`${expected.case}: findings of the root are the ones expected`, () => {
      const root = path.join(corpus, 'cases', expected.path);
      const present = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isFile());
      const files = Object.fromEntries(
        present.map(({ name }) => [name, new Uint8Array(readFileSync(path.join(root, name)))]),
      );
      const { report } = judged(files);
      const wanted = expected.findings.filter(({ kind }: { kind: string }) =>
        /^(Unclean|StorageId|Sidecar)/.test(kind),
      );
      expect(report.findings.map(({ kind, severity, file }) => ({ kind, severity, file }))).to.deep.equal(wanted);
      expect(report.storageId).to.match(/^[0-9a-f]{32}$/);
      expect(report.nodeId).to.equal('broker-1');
      const layout = expected.case === 'root-packed-layouts' ? 'packed' : 'padded';
      expect(report.layouts).to.deep.equal({ 'storage-id': layout, registration: layout });
    });
  }
});
