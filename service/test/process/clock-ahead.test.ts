import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { debianProgram } from '../../../scripts/servers/debian-programs.ts';
import { Client } from '../support/client.ts';
import { ownRedis } from '../support/redis-process.ts';
import { dataDirectory, run, type ServiceProcess, serve } from '../support/service-process.ts';
import { newTestStore } from '../support/test-store.ts';
import { until } from '../support/until.ts';

/** Sets the system clock of one process to an offset from the machine's clock, such as `+400d`. */
class FalseClock {
  readonly environment: Record<string, string>;
  readonly #file: string;

  constructor(directory: string, offset: string) {
    this.#file = join(directory, 'faketime');
    this.environment = {
      LD_PRELOAD: debianProgram('libfaketime'),
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    };
    this.set(offset);
  }

  set(offset: string): void {
    writeFileSync(this.#file, offset);
  }
}

/** Bans start soon: the test cannot advance the clock of the process. */
const earlyBans = { PETSTORE_BAN_FORGIVENESS_SECONDS: '0', PETSTORE_BAN_STRIKES: '3' };

function clientOf(t: TestContext, { url }: ServiceProcess, key: string): Client {
  const client = new Client(url, key);
  t.after(() => client.close());
  return client;
}

async function freeKey(t: TestContext, service: ServiceProcess): Promise<{ id: number; key: string }> {
  const admin = clientOf(t, service, service.adminKey);
  const { status, body } = await admin.post('/keys', { name: 'Shop', plan: 'free', scopes: ['pets:read'] });
  assert.equal(status, 201);
  return body;
}

/** Sends requests until the key is banned, even when its minute ends in the meantime. */
async function useUp(client: Client): Promise<void> {
  for (let requests = 0; requests < 500; requests++) {
    const { status, body } = await client.get('/pets?limit=1');
    if (status !== 200 && body.code === 'api_key_banned') return;
  }
  assert.fail('500 requests brought on no ban');
}

describe('a clock that was 400 days ahead', () => {
  it('locks no key after the clock is corrected and the service restarts', async t => {
    const directory = dataDirectory(t);
    const clock = new FalseClock(directory, '+400d');
    const ahead = await serve(t, join(directory, 'shop'), { ...earlyBans, ...clock.environment });
    const { id, key } = await freeKey(t, ahead);
    await useUp(clientOf(t, ahead, key));
    await ahead.end('SIGTERM');

    const right = await serve(t, join(directory, 'shop'), earlyBans);
    const client = clientOf(t, right, key);
    assert.equal((await client.get('/pets')).status, 200);
    const admin = clientOf(t, right, right.adminKey);
    assert.equal((await admin.get(`/keys/${id}`)).body.ban, null);
    const { windows, days } = (await admin.get(`/keys/${id}/usage`)).body;
    const today = new Date().toISOString().slice(0, 10);
    assert.deepEqual([windows.day.used, days], [1, [{ date: today, admitted: 1, refused: 0 }]]);
  });

  it('locks no key after the clock is corrected while the service runs, and limits still apply', async t => {
    const directory = dataDirectory(t);
    const clock = new FalseClock(directory, '+400d');
    const service = await serve(t, join(directory, 'shop'), { ...earlyBans, ...clock.environment });
    const { key } = await freeKey(t, service);
    const client = clientOf(t, service, key);
    await useUp(client);
    clock.set('+0d');
    assert.equal((await client.get('/pets')).status, 200);
    await useUp(client);
    const { body, headers } = await client.get('/pets');
    assert.equal(body.code, 'api_key_banned');
    assert.ok(Number(headers['retry-after']) <= 61, String(headers['retry-after']));
  });

  it('leaves nothing behind that the command keys reset does not clear', async t => {
    const directory = dataDirectory(t);
    const shop = join(directory, 'shop');
    const service = await serve(t, shop, earlyBans);
    const { id, key } = await freeKey(t, service);
    const client = clientOf(t, service, key);
    await useUp(client);
    const { code, stdout } = await run(t, ['keys', 'reset', String(id)], { PETSTORE_DATA: shop });
    assert.deepEqual(
      [code, stdout],
      [0, `The usage of API key ${id} is cleared, and its ban is lifted if it had one\n`],
    );
    await until('the key is admitted', async () => (await client.get('/pets')).status === 200);
  });
});

describe('one replica whose clock is 6 hours ahead', () => {
  it('locks keys on no other replica, although it counted by itself while Redis was unavailable', async t => {
    const store = await newTestStore(true);
    t.after(async () => {
      await store.failWrites();
      await store.remove();
    });
    const redis = await ownRedis(t);
    await redis.stop();
    const environment = { ...store.environment, ...earlyBans, REDIS_URL: redis.url };
    const { directory } = store;
    const clock = new FalseClock(directory, '+6h');
    const ahead = await serve(t, directory, { ...environment, ...clock.environment });
    const { id, key } = await freeKey(t, ahead);
    await useUp(clientOf(t, ahead, key));

    const right = await serve(t, directory, environment);
    await redis.start();
    const clients = [clientOf(t, ahead, key), clientOf(t, right, key)];
    for (const client of clients) {
      await until('limits are shared again', async () => (await client.get('/readyz')).body.status === 'ok');
    }
    // The first replica sends Redis its own view of the key with its request.
    for (const client of clients) assert.equal((await client.get('/pets')).status, 200);
    const admin = clientOf(t, right, right.adminKey);
    const usedToday = async () => (await admin.get(`/keys/${id}/usage`)).body.windows.day.used;
    const before = await usedToday();
    for (const client of clients) assert.equal((await client.get('/pets')).status, 200);
    assert.equal(await usedToday(), before + 2, 'both count in one window');
  });
});
