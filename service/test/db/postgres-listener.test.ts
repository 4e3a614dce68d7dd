import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Notifications, Polling } from '../../src/db/postgres-listener.ts';
import { SECOND } from '../../src/kit/clock.ts';
import { watchClients, withoutPauses } from '../support/database-clients.ts';
import { DatabaseProxy } from '../support/database-proxy.ts';
import { emptyDatabase } from '../support/test-store.ts';
import { until } from '../support/until.ts';

/**
 * A listener behind a network, and how often it has called back. It calls back once after each connection. With `timeout`, in
 * milliseconds, it gives up a connection whose LISTEN gets no response until then.
 */
async function aListener(t: TestContext, timeout?: number) {
  const { url, drop } = await emptyDatabase();
  const proxy = await DatabaseProxy.between(t, url);
  withoutPauses(t);
  const clients = watchClients(t);
  const calls: (string | undefined)[] = [];
  const start = () => {
    const config = { connectionString: proxy.url, query_timeout: timeout };
    const listener = new Notifications(
      () => config,
      'news',
      payload => calls.push(payload),
    );
    t.after(async () => {
      await listener.close();
      await drop();
    });
    return listener;
  };
  return { start, proxy, clients, calls };
}

describe('the connection that listens for notifications', () => {
  it('is replaced whenever it breaks', async t => {
    const { start, proxy, clients, calls } = await aListener(t);
    start();
    for (let connection = 1; connection <= 3; connection++) {
      await until(`connection ${connection} listens`, () => calls.length === connection);
      proxy.cut();
    }
    await until('the last connection listens', () => calls.length === 4);
    await clients[3]!.query("NOTIFY news, '17'");
    await until('the notification arrives', () => calls.length === 5);
    assert.equal(calls[4], '17');
  });

  it('is replaced when it could not be opened, or LISTEN gets no response', async t => {
    const { start, proxy, clients, calls } = await aListener(t, 200);
    await proxy.reject();
    start();
    await until('two attempts were made', () => clients.length >= 2);
    proxy.fate = ['LISTEN', 'never arrives'];
    const before = clients.length;
    await proxy.accept();
    await until('LISTEN was sent twice', () => clients.length >= before + 3);
    assert.equal(calls.length, 0);
    proxy.fate = undefined;
    await until('it listens', () => calls.length === 1);
  });

  for (const [when, happens] of [
    ['it listens', async () => {}],
    ['it waits to connect again', async proxy => proxy.reject()],
  ] as [string, (proxy: DatabaseProxy) => Promise<void>][]) {
    it(`is not opened again when the store is closed while ${when}`, async t => {
      const { start, proxy, clients, calls } = await aListener(t);
      const listener = start();
      await until('it listens', () => calls.length === 1);
      const ended = new Promise(resolve => clients[0]!.once('end', resolve));
      await happens(proxy);
      if (when !== 'it listens') await ended;
      await listener.close();
      await ended;
      await sleep(20);
      assert.equal(clients.length, 1);
    });
  }
});

it('behind a pooler the log is read ten times a second, until the store is closed', async t => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  let polls = 0;
  const polling = new Polling(() => polls++);
  t.mock.timers.tick(SECOND);
  assert.equal(polls, 10);
  await polling.close();
  t.mock.timers.tick(SECOND);
  assert.equal(polls, 10);
});
