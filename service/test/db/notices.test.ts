import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Client } from 'pg';
import { DatabaseUnavailable, type Queries } from '../../src/db/database.ts';
import { engines, openPostgresStore } from '../support/engines.ts';
import { startPostgresProxy } from '../support/postgres-proxy.ts';

const insert = "INSERT INTO categories (name, name_key) VALUES ('Dogs', 'dogs')";

const count = (db: Queries) => db.get<{ n: number }>('SELECT count(*) AS n FROM categories');

for (const [engine, openStore] of Object.entries(engines)) {
  describe(`a notice of a transaction on ${engine}`, () => {
    it('is sent once, after the commit and before the write resolves, even by a write within another', async t => {
      const { db } = await openStore(t);
      const order: string[] = [];
      const seen: Promise<{ n: number } | undefined>[] = [];
      db.onNotice('shelves', () => {
        order.push('notice');
        seen.push(count(db));
      });
      db.onNotice('doors', () => order.push('another notice'));
      await db.write(async tx => {
        await tx.write(async inner => {
          inner.notify('shelves');
          inner.notify('shelves');
          await inner.run(insert);
        });
        await tx.run('UPDATE categories SET name = name');
        order.push('end of the work');
      });
      order.push('written');
      assert.deepEqual(order, ['end of the work', 'notice', 'written']);
      assert.deepEqual(await Promise.all(seen), [{ n: 1 }]);
    });

    it('is not sent again by later transactions', async t => {
      const { db } = await openStore(t);
      let notices = 0;
      db.onNotice('shelves', () => notices++);
      await db.write(async tx => tx.notify('shelves'));
      await db.write(tx => tx.run(insert));
      assert.equal(notices, 1);
    });
  });
}

describe('a notice of a transaction on PostgreSQL', () => {
  it('waits for the response to the commit', async t => {
    const { db } = await openPostgresStore(t);
    const order: string[] = [];
    db.onNotice('shelves', () => order.push('notice'));
    const { query } = Client.prototype;
    t.mock.method(Client.prototype, 'query', function (this: Client, ...args: Parameters<typeof query>) {
      const response: unknown = query.apply(this, args);
      if (String(args[0]) === 'COMMIT')
        void (response as Promise<unknown>).then(() => order.push('committed'));
      return response;
    });
    await db.write(async tx => tx.notify('shelves'));
    assert.deepEqual(order, ['committed', 'notice']);
  });

  it('is also sent when the connection breaks during the commit, because the change may be stored', async t => {
    const { openAgain, url } = await openPostgresStore(t);
    const proxy = await startPostgresProxy(url);
    t.after(() => proxy.close());
    const db = await openAgain({ url: proxy.url });
    let notices = 0;
    db.onNotice('shelves', () => notices++);
    proxy.decide('COMMIT\0', 'done, then disconnected');
    const written = db.write(async tx => {
      tx.notify('shelves');
      await tx.run(insert);
    });
    await assert.rejects(written, DatabaseUnavailable);
    assert.equal(notices, 1);
  });
});
