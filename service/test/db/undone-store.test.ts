import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Queries } from '../../src/db/database.ts';
import { undoneStore } from '../../src/db/undone-store.ts';
import { engines } from '../support/engines.ts';

const INSERT = 'INSERT INTO categories (name, name_key) VALUES (?, ?)';

function countOf(db: Queries): Promise<{ count: number } | undefined> {
  return db.get('SELECT count(*) AS count FROM categories');
}

for (const [engine, openStore] of Object.entries(engines)) {
  describe(`a store whose writes are undone, on ${engine}`, () => {
    it('returns what a write returns, and keeps none of its changes', async t => {
      const { db } = await openStore(t);
      const undone = undoneStore(db);
      const written = await undone.write(async tx => {
        await tx.run(INSERT, ['Dogs', 'dogs']);
        return countOf(tx);
      });
      assert.equal(written?.count, 1);
      assert.equal((await countOf(undone))?.count, 0);
    });

    it('fails when a statement fails for which the write does not wait', async t => {
      const undone = undoneStore((await openStore(t)).db);
      const sent = undone.write(async tx => {
        tx.send(INSERT, ['', '']);
        return 'sent';
      });
      await assert.rejects(sent, /constraint/);
    });

    it('does no work that a write leaves for after its commit', async t => {
      const undone = undoneStore((await openStore(t)).db);
      let worked = false;
      const work = async () => {
        worked = true;
      };
      await undone.write(async tx => tx.afterCommit(work, 1));
      assert.equal(worked, false);
    });

    it('does not change what other writes see, whenever they run', async t => {
      const { db } = await openStore(t);
      const undone = undoneStore(db);
      const seen = await Promise.all(
        Array.from({ length: 30 }, async (_, i) => {
          const isUndone = i % 3 > 0;
          const found = await (isUndone ? undone : db).write(async tx => {
            await tx.lock('categories');
            const before = (await countOf(tx))!.count;
            const name = isUndone ? 'undone' : `dogs ${i}`;
            await tx.run(INSERT, [name, name]);
            return before;
          });
          return isUndone ? [] : [found];
        }),
      );
      const counts = seen.flat().sort((a, b) => a - b);
      assert.deepEqual(
        counts,
        counts.map((_, i) => i),
      );
    });
  });
}
