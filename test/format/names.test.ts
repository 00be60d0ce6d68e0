/**
 * Names on disk. Directory names and hashes were made with another implementation of the rule; the first two are of
 * directories that a broker made.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import {
  indexFileName,
  indexIdOf,
  keyLabel,
  parseKeyLabel,
  parseObjectKey,
  parseShardName,
  type ShardKey,
  segmentFileName,
  segmentIdOf,
  shardDirectoryName,
  shardKeyHash,
} from '../../src/format/names.js';

function key(tenant: string, namespace: string, stream: string, shard: number): ShardKey {
  return { tenant, namespace, stream, shard };
}

const ORDERS = key('acme', 'default', 'orders', 0);

describe('names', () => {
  describe('of segments and indexes', () => {
    it('have 20 digits', () => {
      expect(segmentFileName(0n)).to.equal('00000000000000000000.log');
      expect(segmentFileName(18_446_744_073_709_551_615n)).to.equal('18446744073709551615.log');
      expect(indexFileName(7n)).to.equal('00000000000000000007.index');
    });

    it('are taken for a segment as a broker takes them: any u64, padded or not, a plus in front of it allowed', () => {
      const taken: readonly (readonly [string, bigint])[] = [
        ['00000000000000000007.log', 7n],
        ['7.log', 7n],
        ['+7.log', 7n],
        ['+00000000000000000007.log', 7n],
        ['0000000000000000000000007.log', 7n],
        ['0.log', 0n],
        ['9007199254740993.log', 9_007_199_254_740_993n],
        ['18446744073709551615.log', 18_446_744_073_709_551_615n],
      ];
      for (const [name, id] of taken) expect(segmentIdOf(name), name).to.equal(id);
    });

    it('are nothing when they are past u64 or anything but digits', () => {
      const strangers = [
        '18446744073709551616.log',
        '99999999999999999999.log',
        '100000000000000000000000.log',
        '.log',
        '+.log',
        '++7.log',
        '-7.log',
        '-0.log',
        ' 7.log',
        '7 .log',
        '7.log ',
        '7.log\n',
        '7.LOG',
        '7.log.repair',
        '7.5.log',
        '7_0.log',
        '0x7.log',
        '7e1.log',
        '٧.log',
        '７.log',
        '._00000000000000000007.log',
        'x/00000000000000000007.log',
        '00000000000000000007.index',
        '00000000000000000007log',
        '',
      ];
      for (const name of strangers) expect(segmentIdOf(name), JSON.stringify(name)).to.equal(null);
    });

    it('of an index must be the ones that a broker opens', () => {
      expect(indexIdOf('00000000000000000007.index')).to.equal(7n);
      expect(indexIdOf('18446744073709551615.index')).to.equal(18_446_744_073_709_551_615n);
      for (const name of [
        '7.index',
        '+0000000000000000007.index',
        '18446744073709551616.index',
        '000000000000000000007.index',
        '00000000000000000007.log',
        '00000000000000000007.index.tmp',
      ]) {
        expect(indexIdOf(name), name).to.equal(null);
      }
    });

    it('come back as the id they were made of', () => {
      fc.assert(
        fc.property(fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }), (id) => {
          expect(segmentIdOf(segmentFileName(id))).to.equal(id);
          expect(indexIdOf(indexFileName(id))).to.equal(id);
        }),
      );
    });
  });

  describe('of shard directories', () => {
    const made: readonly (readonly [ShardKey, string])[] = [
      [ORDERS, 'acme_default_orders_0-0d3aed4b998d2798'],
      [key('acme', 'default', 'payments', 1), 'acme_default_payments_1-feaf86568f3eb763'],
      [key('acme_eu', 'default', 'orders', 0), 'acme_eu_default_orders_0-9455e0736ca0cf62'],
      [key('acme.eu', 'default', 'orders', 0), 'acme_eu_default_orders_0-0205ef2680f10033'],
      [key('acme', 'default', 'a'.repeat(40), 3), `acme_default_${'a'.repeat(32)}_3-ebe4638b2ec04a92`],
      [key('', 'default', 'orders', 0), '__default_orders_0-7fce2cc35514141a'],
      [key('acme', 'default', 'grün🙂x', 4_294_967_295), 'acme_default_gr_n_x_4294967295-a1ce795beb30851b'],
      [key('..', '..', '..', 0), '_________0-88b8434be92e7dc7'],
      [key('a_b', 'c_d', 'e_f', 12), 'a_b_c_d_e_f_12-c1c107ed61d3ff18'],
      [key('x-y', 'default', 'o-1', 7), 'x-y_default_o-1_7-202abd098503a9c1'],
      [key('🙂'.repeat(33), 'n', 's', 1), `${'_'.repeat(32)}_n_s_1-fd1ecf27e333a3e9`],
    ];

    it('are the readable part and the hash of the exact key', () => {
      for (const [shardKey, name] of made) expect(shardDirectoryName(shardKey)).to.equal(name);
      expect(shardKeyHash(ORDERS)).to.equal(0x0d3aed4b998d2798n);
    });

    it('end in the incarnation as 16 hex digits when there is one', () => {
      expect(shardDirectoryName(ORDERS, 0n)).to.equal('acme_default_orders_0-0d3aed4b998d2798');
      const name = shardDirectoryName(ORDERS, 0x6411a0ccf2e40n);
      expect(name).to.equal('acme_default_orders_0-0d3aed4b998d2798-0006411a0ccf2e40');
      expect(parseShardName(name)).to.deep.equal({
        readable: 'acme_default_orders',
        shard: 0,
        hash: '0d3aed4b998d2798',
        incarnation: '0006411a0ccf2e40',
        key: ORDERS,
      });
    });

    it('prove the key when a way to split the readable part gives the hash, underscores in it included', () => {
      for (const shardKey of [
        ORDERS,
        key('acme_eu', 'default', 'orders', 0),
        key('a_b', 'c_d', 'e_f', 12),
        key('x-y', 'default', 'o-1', 7),
        key('', 'default', 'orders', 0),
        key('_', 'default', 'orders', 0),
        key('a', '', '_', 3),
        key('', '', '', 0),
        key('_'.repeat(18), 'n', '_'.repeat(20), 1),
      ]) {
        const parsed = parseShardName(shardDirectoryName(shardKey));
        expect(parsed?.key).to.deep.equal(shardKey);
        expect(parsed?.incarnation).to.equal(null);
      }
    });

    it('prove no key where there are more than 40 underscores to split at', () => {
      expect(parseShardName(shardDirectoryName(key('_'.repeat(19), 'n', '_'.repeat(20), 1)))?.key).to.equal(null);
    });

    it('prove no key when characters were replaced or cut off, or the hash is another', () => {
      for (const name of [
        'acme_eu_default_orders_0-0205ef2680f10033',
        `acme_default_${'a'.repeat(32)}_3-ebe4638b2ec04a92`,
        'acme_default_gr_n_x_4294967295-a1ce795beb30851b',
        '_________0-88b8434be92e7dc7',
        'acme_default_orders_0-0d3aed4b998d2799',
        'acme_default_orders_1-0d3aed4b998d2798',
        'acme_orders_0-0d3aed4b998d2798',
      ]) {
        const parsed = parseShardName(name);
        expect(parsed, name).to.not.equal(null);
        expect(parsed?.key, name).to.equal(null);
      }
    });

    it('prove no key whose own directory is written otherwise, though the hash is its', () => {
      for (const [readable, shardKey] of [
        ['a_b', key('a', '', 'b', 0)],
        ['a_b_c', key('a', '', 'b_c', 0)],
        ['a_b_c', key('a_b', '', 'c', 0)],
        ['a_b_c', key('', 'a_b', 'c', 0)],
      ] as const) {
        const hash = shardKeyHash(shardKey).toString(16).padStart(16, '0');
        expect(parseShardName(`${readable}_0-${hash}`)).to.deep.include({ readable, hash, key: null });
      }
    });

    it('are taken apart in time that does not grow with the underscores in them', () => {
      const name = `${'_'.repeat(200)}_0-0d3aed4b998d2798`;
      const before = performance.now();
      expect(parseShardName(name)?.key).to.equal(null);
      expect(parseShardName(`${'_'.repeat(40)}a_0-0d3aed4b998d2798`)?.key).to.equal(null);
      expect(performance.now() - before).to.be.lessThan(1000);
    });

    it('are nothing when the hash, the shard or the incarnation is malformed', () => {
      for (const name of [
        'acme_default_orders_0',
        'acme_default_orders-0d3aed4b998d2798',
        'acme_default_orders_0-0d3aed4b998d279',
        'acme_default_orders_0-0D3AED4B998D2798',
        'acme_default_orders_0-0d3aed4b998d2798-6411a0ccf2e40',
        'acme_default_orders_0-0d3aed4b998d2798-0006411A0CCF2E40',
        'acme_default_orders_0-0d3aed4b998d2798-',
        'acme_default_orders_0-0d3aed4b998d2798.old',
        'acme_default_orders_4294967296-0d3aed4b998d2798',
        'acme_default_orders_99999999999-0d3aed4b998d2798',
        'acme.eu_default_orders_0-0205ef2680f10033',
        'acme_default_orders_0-0d3aed4b998d2798\n',
        '.deleted',
        '',
      ]) {
        expect(parseShardName(name), JSON.stringify(name)).to.equal(null);
      }
    });

    it('give back any key of letters, digits and hyphens', () => {
      const part = fc.stringMatching(/^[A-Za-z0-9-]{1,32}$/);
      const shard = fc.nat(0xffffffff);
      const incarnation = fc.bigInt({ min: 0n, max: (1n << 64n) - 1n });
      fc.assert(
        fc.property(part, part, part, shard, incarnation, (tenant, namespace, stream, number, born) => {
          const shardKey = key(tenant, namespace, stream, number);
          const parsed = parseShardName(shardDirectoryName(shardKey, born));
          expect(parsed?.key).to.deep.equal(shardKey);
          expect(BigInt(`0x${parsed?.incarnation ?? '0'}`)).to.equal(born);
        }),
      );
    });

    it('have no dot and no slash, whatever the key', () => {
      const any = fc.string({ unit: 'binary', maxLength: 50 });
      fc.assert(
        fc.property(any, any, any, fc.nat(0xffffffff), (tenant, namespace, stream, shard) => {
          const name = shardDirectoryName(key(tenant, namespace, stream, shard));
          expect(name).to.match(/^[A-Za-z0-9_-]+_[0-9]+-[0-9a-f]{16}$/);
          expect(parseShardName(name)).to.not.equal(null);
        }),
      );
    });
  });

  describe('of keys in the words of a broker', () => {
    it('are tenant, namespace, stream and shard with slashes between', () => {
      expect(keyLabel(ORDERS)).to.equal('acme/default/orders/0');
      expect(parseKeyLabel('acme/default/orders/0')).to.deep.equal(ORDERS);
      expect(parseKeyLabel('acme.eu/grün//4294967295')).to.deep.equal(key('acme.eu', 'grün', '', 4_294_967_295));
    });

    it('are nothing in any other shape', () => {
      for (const label of [
        'acme/default/orders',
        'acme/default/orders/',
        'acme/default/orders/x',
        'acme/default/orders/-1',
        'acme/default/orders/4294967296',
        'acme/default/orders/0/1',
        'acme/default/orders/0\n',
        '',
      ]) {
        expect(parseKeyLabel(label), JSON.stringify(label)).to.equal(null);
      }
    });
  });

  it('takes an object key apart, with a node id that may hold slashes, and without one', () => {
    const name = `${'0'.repeat(18)}10-${'0'.repeat(19)}2.segment`;
    const rest = { directory: 'shard', baseOffset: 10n, segmentId: 2n };
    expect(parseObjectKey(`node/shard/${name}`)).to.deep.equal({ nodeId: 'node', ...rest });
    expect(parseObjectKey(`a/b/shard/${name}`)).to.deep.equal({ nodeId: 'a/b', ...rest });
    expect(parseObjectKey(`shard/${name}`)).to.deep.equal({ nodeId: null, ...rest });
    for (const other of [name, `shard/${name}.gz`, 'shard/10-2.segment', '', '../../etc/passwd']) {
      expect(parseObjectKey(other), other).to.equal(null);
    }
  });
});
