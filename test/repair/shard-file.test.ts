/** Which names a repair may touch, and which ones a broker looks at. */
import { expect } from 'chai';
import { concernsBroker, fileOfTemporary, isShardFile, temporaryOf } from '../../src/repair/shard-file.js';
import { indexName, logName } from '../builders/shards.js';

const SMALL = ['epochs', 'replica', 'ballot', 'producers', 'offload.manifest', 'keys.idx'];
/** The last u64, and the one behind it. */
const LAST = 18446744073709551615n;

describe('a name in a shard', () => {
  it('may be written to when it is one of the format, spelled as a broker opens it', () => {
    for (const name of [...SMALL, logName(0), logName(LAST), indexName(0), indexName(LAST)]) {
      expect([name, isShardFile(name), concernsBroker(name)]).to.deep.equal([name, true, true]);
    }
  });

  it('is one that a broker takes for a segment, and may not be written to, in any other spelling', () => {
    for (const name of ['7.log', '+7.log', `+${logName(0)}`, `0${logName(0)}`]) {
      expect([name, isShardFile(name), concernsBroker(name)]).to.deep.equal([name, false, true]);
    }
  });

  it('is nothing to a broker otherwise', () => {
    for (const name of ['', '7.index', 'run-state', 'keys.idx.tmp', logName(LAST + 1n), indexName(LAST + 1n), '.log']) {
      expect([name, isShardFile(name), concernsBroker(name)]).to.deep.equal([name, false, false]);
    }
  });
});

describe('the temporary of a file', () => {
  it('is known again by its name, and nothing else is taken for one', () => {
    for (const file of [...SMALL, logName(3), indexName(3)]) {
      expect(temporaryOf(file)).to.equal(`.felix-fsck.${file}.tmp`);
      expect(fileOfTemporary(temporaryOf(file))).to.equal(file);
      expect(concernsBroker(temporaryOf(file))).to.equal(false);
    }
    for (const name of [
      'epochs',
      '.felix-fsck..tmp',
      '.felix-fsck.7.log.tmp',
      '.felix-fsck.notes.tmp',
      'x.felix-fsck.epochs.tmp',
      '.felix-fsck.epochs.tmp.old',
    ]) {
      expect(fileOfTemporary(name), name).to.equal(null);
    }
  });
});
