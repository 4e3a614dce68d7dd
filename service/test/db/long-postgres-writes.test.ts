import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openPostgresStore } from '../support/engines.ts';

describe('a part of a transaction of PostgreSQL', () => {
  it('that fails releases its locks, so that a later part takes them again', async t => {
    const { db } = await openPostgresStore(t);
    const isFree = (name: string) => db.write(other => other.tryLock(name));
    await db.write(async tx => {
      await tx.lock('before');
      const failed = tx.savepoint(async () => {
        await tx.lock('before', 'part');
        throw new Error('rejected');
      });
      await assert.rejects(failed, /rejected/);
      assert.deepEqual([await isFree('before'), await isFree('part')], [false, true]);
      await tx.savepoint(() => tx.lock('part'));
      assert.equal(await isFree('part'), false);
    });
  });
});

describe('writes of PostgreSQL that run alone', () => {
  it('leave connections to other writers, however many they are', async t => {
    const { db } = await openPostgresStore(t);
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    let running = 0;
    const write = async () => {
      running++;
      await released;
      running--;
    };
    const writes = Array.from({ length: 8 }, () => db.write(write, { alone: true }));
    try {
      assert.equal(await db.write(async () => 'written'), 'written');
      assert.ok(running <= 2, `${running} at once`);
    } finally {
      release();
    }
    await Promise.all(writes);
    assert.equal(running, 0);
  });
});
