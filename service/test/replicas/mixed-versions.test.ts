import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { Balancer } from '../../../scripts/servers/balancer.ts';
import { Replica } from '../../../scripts/servers/replica.ts';
import { rollingRestarts } from '../../../scripts/servers/rolling-restarts.ts';
import { SteadyLoad } from '../../../scripts/servers/steady-load.ts';
import { Receiver } from '../events/receiver.ts';
import { Client } from '../support/client.ts';
import { emptyPostgres } from '../support/engines.ts';
import { assertGapless, eventsAfter } from '../support/event-log.ts';
import type { CloudEvent } from '../support/event-reader.ts';
import { aCategory, aPet } from '../support/factories.ts';
import { nextVersion } from '../support/next-version.ts';
import { tally } from '../support/replicas.ts';
import { dataDirectory } from '../support/service-process.ts';
import { emptyRedis } from '../support/test-redis.ts';
import { until } from '../support/until.ts';
import { idsOf } from '../support/values.ts';

/** Requests per day of the limited key. */
const DAILY = 30;

/** A replica of this version with all traffic, and what the test needs to upgrade it. */
async function shopToUpgrade(t: TestContext) {
  // Runs before the database is dropped; what was started last stops first.
  const cleanUp = new AsyncDisposableStack();
  t.after(() => cleanUp.disposeAsync());
  const checkout = nextVersion(t);
  const databaseUrl = await emptyPostgres(t);
  const receiver = await Receiver.start();
  cleanUp.defer(() => receiver.close());
  const environment = {
    PATH: process.env.PATH,
    DATABASE_URL: databaseUrl,
    REDIS_URL: await emptyRedis(),
    LOG_LEVEL: 'warn',
    PETSTORE_DATA: dataDirectory(t),
    PETSTORE_DRAIN_SECONDS: '3',
    PETSTORE_WEBHOOKS_ALLOW_PRIVATE: 'true',
  };
  const start = async (replica: Replica, check?: () => void) => {
    cleanUp.defer(() => replica.stop());
    await replica.start();
    const adminKey = readFileSync(join(environment.PETSTORE_DATA, 'admin.key'), 'utf8').trim();
    const api = new Client(`http://127.0.0.1:${replica.port}`, adminKey, undefined, check);
    cleanUp.defer(async () => api.close());
    return { replica, api, adminKey };
  };
  const old = await start(new Replica(1, environment));
  const balancer = new Balancer();
  cleanUp.defer(() => balancer.close());
  const url = await balancer.listen('127.0.0.1', 0);
  await balancer.add(old.replica.port);
  // The next version has another contract.
  const startNext = () => start(new Replica(2, environment, { checkout }), () => {});
  return { old, balancer, url, receiver, startNext, cleanUp };
}

/** Fails unless each replica can read and change what the other created, and sells no unit twice. */
async function tradeAcross(one: Client, other: Client): Promise<number[]> {
  const pets: number[] = [];
  for (const [here, there] of [
    [one, other],
    [other, one],
  ] as const) {
    const petId = await aPet(here, { stock: 2 });
    pets.push(petId);
    assert.equal((await there.patch(`/pets/${petId}`, { name: `Rex ${petId}` })).status, 200);
    assert.equal((await here.get(`/pets/${petId}`)).body.name, `Rex ${petId}`);
    const order = (api: Client) => api.post('/store/orders', { petId, quantity: 1 });
    const orders = await Promise.all([order(here), order(there), order(here), order(there)]);
    assert.deepEqual(tally(orders), { '201': 2, '409 pet_not_available': 2 });
  }
  return pets;
}

/** Fails unless each version reads and changes the categories of the other, and the old one keeps what it does not know. */
async function mixCategories(old: Client, next: Client): Promise<void> {
  const path = `/categories/${await aCategory(old)}`;
  const motto = 'Every dog has its day';
  assert.equal((await old.patch(path, { motto })).status, 400);
  assert.equal((await next.patch(path, { motto })).body.motto, motto);
  assert.equal((await old.get(path)).body.motto, undefined);
  assert.equal((await old.put(path, { name: 'Renamed by the old version' })).status, 200);
  const { name, motto: kept } = (await next.get(path)).body;
  assert.deepEqual([name, kept], ['Renamed by the old version', motto]);
}

it('a replica of this version and one of a next version with another schema serve together and replace each other without a failed request', async t => {
  const { old, balancer, url, receiver, startNext, cleanUp } = await shopToUpgrade(t);
  const load = new SteadyLoad(url, old.adminKey, 'Load', 4);
  cleanUp.defer(async () => void (await load.stop()));
  const types = ['pet.created'];
  assert.equal((await old.api.post('/webhooks', { url: receiver.url, types })).status, 201);
  const oldPet = await aPet(old.api);

  // The next version migrates; the old one continues.
  const next = await startNext();
  await balancer.add(next.replica.port);
  const pets = [oldPet, ...(await tradeAcross(old.api, next.api))];
  await mixCategories(old.api, next.api);

  const quotas = { perMinute: 1_000, perDay: DAILY };
  const key = { name: 'Limited', plan: 'enterprise', scopes: ['pets:read'], quotas };
  const created = await old.api.post('/keys', key);
  assert.equal(created.status, 201, created.text);
  const clients = [old.api, next.api].map(api => api.as(created.body.key));
  const responses = await Promise.all(
    Array.from({ length: DAILY + 20 }, (_, i) => clients[i % 2]!.get('/pets?limit=1')),
  );
  assert.deepEqual(tally(responses), { '200': DAILY, '429 rate_limit_exceeded': 20 });

  // The old replica stops, and does not start again on the newer schema.
  balancer.remove(old.replica.port);
  await old.replica.end();
  await assert.rejects(old.replica.start(), /newer than this program knows/);
  pets.push(await aPet(next.api));
  const { reads, writes, failures } = await load.stop();
  assert.deepEqual(failures, []);
  assert.ok(reads > 0 && writes > 0);
  assert.deepEqual([...next.replica.newLogLines()], []);

  // One category for each pet, and the mixed one.
  const categories = writes + pets.length + 1;
  let events: CloudEvent[] = [];
  // The response to a write does not wait for the number of its event.
  await until('each category has its event', async () => {
    events = await eventsAfter(next.api, 0);
    return events.filter(({ type }) => type === 'category.created').length >= categories;
  });
  assert.equal(events.filter(({ type }) => type === 'category.created').length, categories);
  assertGapless(idsOf(events), 1);
  const subjects = pets.map(petId => `pets/${petId}`);
  const sent = () => new Set(receiver.received.map(({ event }) => event.subject));
  await until('the webhook received each pet', () => sent().size === subjects.length);
  assert.deepEqual([...sent()].toSorted(), subjects.toSorted());
});

// `scripts/rolling-restarts.ts` is the long form: 20 rounds.
it('a rolling restart of two replicas under load fails no request through HAProxy, and none through our balancer', async t => {
  const databaseUrl = await emptyPostgres(t);
  const outcome = await rollingRestarts({
    databaseUrl,
    redisUrl: await emptyRedis(),
    restarts: 1,
    // The default: long enough for several checks by both proxies.
    drainSeconds: 5,
    clients: 4,
  });
  assert.deepEqual(outcome.warnings, []);
  for (const proxy of ['haproxy', 'balancer'] as const) {
    const { reads, writes, failures } = outcome[proxy];
    assert.deepEqual(failures, []);
    assert.ok(reads > 0 && writes > 0);
    t.diagnostic(`${proxy}: ${reads} reads and ${writes} writes`);
  }
});
