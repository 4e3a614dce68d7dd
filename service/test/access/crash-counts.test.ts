import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import BetterSqlite3 from 'better-sqlite3';
import { Client } from '../support/client.ts';
import { sized } from '../support/long.ts';
import { type ServiceProcess, serve } from '../support/service-process.ts';
import { onPostgres, storeForProcesses } from '../support/test-store.ts';
import { until } from '../support/until.ts';

/** How often the process is killed. */
const ROUNDS = sized(1, 10);

/** Requests in progress at once. */
const CLIENTS = 4;

/** After each request, in milliseconds: the load lasts until counts are stored, which is every 0.8 s, however many there are. */
const PAUSE = 10;

/** The requests sent with a key, and the responses to them. */
interface Tally {
  key: string;
  keyId: number;
  sent: number;
  responses: number;
}

async function aKey(api: Client, quotas: object): Promise<Tally> {
  const { status, body, text } = await api.post('/keys', {
    name: 'Load',
    plan: 'enterprise',
    scopes: ['pets:read'],
    quotas,
  });
  assert.equal(status, 201, text);
  return { key: body.key, keyId: body.id, sent: 0, responses: 0 };
}

async function requestUntilDisconnected(origin: string, tally: Tally): Promise<void> {
  const client = new Client(origin, tally.key);
  try {
    for (;;) {
      tally.sent++;
      assert.equal((await client.head('/pets')).status, 200);
      tally.responses++;
      await sleep(PAUSE);
    }
  } catch (error) {
    if (!/^E(CONN|PIPE)/.test(String((error as NodeJS.ErrnoException).code))) throw error;
  } finally {
    client.close();
  }
}

/** How many requests of a key the service has counted, on all days. */
async function countedOf(api: Client, keyId: number): Promise<number> {
  const { body } = await api.get(`/keys/${keyId}/usage`);
  return body.days.reduce((sum: number, { admitted }: { admitted: number }) => sum + admitted, 0);
}

/** Calls `use` with a function that reads how many requests of a key the embedded store has. */
async function withStored(
  directory: string,
  keyId: number,
  use: (read: () => number) => Promise<void>,
): Promise<void> {
  const db = new BetterSqlite3(join(directory, 'petstore.db'), { readonly: true });
  const stored = db.prepare('SELECT coalesce(sum(admitted), 0) FROM key_usage WHERE api_key_id = ?').pluck();
  try {
    await use(() => Number(stored.get(keyId)));
  } finally {
    db.close();
  }
}

async function withAdmin<T>(
  { url, adminKey }: ServiceProcess,
  work: (api: Client) => Promise<T>,
): Promise<T> {
  const api = new Client(url, adminKey);
  try {
    return await work(api);
  } finally {
    api.close();
  }
}

/** Waits until the service is ready. While Redis is unavailable, new counts are only in the memory of the process. */
function untilReady(service: ServiceProcess): Promise<void> {
  return withAdmin(service, api =>
    until('the service is ready', async () => (await api.get('/readyz')).body.status === 'ok'),
  );
}

describe('a process killed under load', () => {
  it('loses at most the counts and bans since they were stored last, and counts no request that was not sent', async t => {
    const { directory, environment } = await storeForProcesses(t);
    const rules = {
      PETSTORE_BAN_FORGIVENESS_SECONDS: '0',
      PETSTORE_BAN_STRIKES: '3',
      // Longer than all rounds take.
      PETSTORE_BAN_MINUTES: '60',
    };
    let service = await serve(t, directory, { ...environment, ...rules });
    const banned = await withAdmin(service, api => aKey(api, { perMinute: 1_000, perDay: 1 }));
    const banOf = () => withAdmin(service, async api => (await api.get(`/keys/${banned.keyId}`)).body.ban);
    await withAdmin({ ...service, adminKey: banned.key }, async client => {
      for (let i = 0; i < 4; i++) await client.get('/pets');
    });
    const ban = await banOf();
    assert.ok(ban);
    const unlimited = { perMinute: 1_000_000, perDay: 1_000_000_000 };
    const tally = await withAdmin(service, api => aKey(api, unlimited));
    for (let round = 0; round < ROUNDS; round++) {
      const before = await withAdmin(service, api => countedOf(api, tally.keyId));
      Object.assign(tally, { sent: 0, responses: 0 });
      const load = Array.from({ length: CLIENTS }, () => requestUntilDisconnected(service.url, tally));
      await until('many requests have their response', () => tally.responses >= 100);
      await untilReady(service);
      const { responses } = tally;
      // With Redis a request is counted there before its response.
      if (!onPostgres)
        await withStored(directory, tally.keyId, async read => {
          // The first time may have begun before.
          for (const time of ['once', 'twice']) {
            const last = read();
            await until(`counts are stored ${time}`, () => read() !== last);
          }
        });
      await service.end('SIGKILL');
      await Promise.all(load);

      service = await serve(t, directory, { ...environment, ...rules });
      await untilReady(service);
      assert.deepEqual(await banOf(), ban);
      const counted = (await withAdmin(service, api => countedOf(api, tally.keyId))) - before;
      assert.ok(counted >= responses, `${counted} counted, ${responses} were to be stored`);
      assert.ok(counted <= tally.sent, `${counted} counted of ${tally.sent} sent`);
    }
  });

  it('loses nothing while it waits for a slow request at shutdown', async t => {
    const { directory, environment } = await storeForProcesses(t);
    // Longer than the wait for the counts.
    const service = await serve(t, directory, { ...environment, PETSTORE_SHUTDOWN_SECONDS: '60' });
    const unlimited = { perMinute: 1_000_000, perDay: 1_000_000_000 };
    const tally = await withAdmin(service, api => aKey(api, unlimited));
    const slow = connect(Number(new URL(service.url).port), '127.0.0.1').on('error', () => {});
    t.after(() => slow.destroy());
    const head = `POST /categories HTTP/1.1\r\nHost: a\r\nX-API-Key: ${service.adminKey}\r\n`;
    slow.write(`${head}Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{`);
    const load = requestUntilDisconnected(service.url, tally);
    await until('some requests have their response', () => tally.responses >= 20);
    await untilReady(service);
    service.child.kill('SIGTERM');
    await load;
    if (!onPostgres)
      await withStored(directory, tally.keyId, read =>
        until('all counts are stored', () => read() >= tally.responses),
      );
    assert.equal(service.child.exitCode, null, 'the process still waits');
    await service.end('SIGKILL');
    const again = await serve(t, directory, environment);
    await untilReady(again);
    const counted = await withAdmin(again, api => countedOf(api, tally.keyId));
    assert.ok(counted >= tally.responses, `${counted} counted of ${tally.responses} responses`);
  });
});
