import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { aPet } from '../support/factories.ts';
import { appendMany } from '../support/many-events.ts';
import { RawConnection } from '../support/raw-connection.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { inTime, until } from '../support/until.ts';
import { valuesOf } from '../support/values.ts';

/** Work in several slices: its request, and a statement of its first slice. */
const works: Record<string, [target: string, statement: RegExp]> = {
  'a search': ['/pets?q=rex', /pet_words/],
  'the events of a pet by an API key': ['/events?subject=pets/1&actor=keys/9', /^WITH slice/],
  'the history of a pet by an API key': ['/history?subject=pets/1&actor=keys/9', /^WITH slice/],
  'a long page': ['/events?limit=1000', /restored_data, page\.\*/],
  'sealed events': ['/events/seals', /FROM events WHERE id >= \? AND id <= \?/],
};

async function startShop(t: TestContext): Promise<TestApp> {
  const shop = await startTestApp(t);
  await aPet(shop.api, { name: 'Rex' });
  // More than a slice of them has.
  await appendMany(shop.app, 1_001);
  await shop.app.db.numberEvents();
  return shop;
}

/**
 * Holds the rows of the next statement that matches. `read` resolves when the store has returned them; `resume` passes them on. From then
 * on the work needs only turns of this process.
 */
function holdStatement(t: TestContext, { app }: TestApp, statement: RegExp) {
  const read = Promise.withResolvers<void>();
  const { promise: resumed, resolve: resume } = Promise.withResolvers<void>();
  const all = app.db.all.bind(app.db);
  const { mock } = t.mock.method(app.db, 'all', async (...query: Parameters<typeof all>) => {
    if (!statement.test(query[0])) return all(...query);
    mock.restore();
    const rows = await all(...query);
    read.resolve();
    await resumed;
    return rows;
  });
  return { read: read.promise, resume };
}

function send({ origin, adminKey }: TestApp, target: string): RawConnection {
  const connection = new RawConnection(origin);
  connection.send(
    `GET ${target} HTTP/1.1\r\nHost: shop\r\nX-API-Key: ${adminKey}\r\nX-Request-Id: long-work\r\nConnection: close\r\n\r\n`,
  );
  return connection;
}

const requestLines = ({ logLines }: TestApp) =>
  logLines().filter(({ requestId }) => requestId === 'long-work');

describe('long work', () => {
  for (const [name, [target, statement]] of Object.entries(works)) {
    it(`ends when its client disconnects, which is no failure: ${name}`, async t => {
      const shop = await startShop(t);
      const { read, resume } = holdStatement(t, shop, statement);
      const connection = send(shop, target);
      await inTime('the rows', read, 20);
      connection.socket.destroy();
      await until('the request is logged', () => requestLines(shop).length > 0);
      let later = 0;
      t.mock.method(shop.app.db, 'all', async (sql: string) => {
        if (statement.test(sql)) later++;
        return [];
      });
      resume();
      // Its response comes after what the work could still do.
      for (let i = 0; i < 5; i++) assert.equal((await shop.api.get('/healthz')).status, 200);
      assert.equal(later, 0, 'no further slice is read');
      assert.deepEqual(valuesOf(requestLines(shop), 'level', 'status', 'msg'), [[30, null, 'Request']]);
    });

    it(`is completed while the service shuts down: ${name}`, async t => {
      const shop = await startShop(t);
      const { read, resume } = holdStatement(t, shop, statement);
      const connection = send(shop, target);
      await inTime('the rows', read, 20);
      const closing = shop.app.server.close();
      resume();
      const [response] = await connection.responses();
      await closing;
      assert.equal(response?.status, 200, response?.text);
    });
  }
});
