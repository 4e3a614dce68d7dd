import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { Balancer } from '../../../scripts/servers/balancer.ts';
import {
  lastCommitOfSchemaBefore,
  previousCommit,
  unpackCommit,
} from '../../../scripts/servers/previous-version.ts';
import { Replica } from '../../../scripts/servers/replica.ts';
import { SteadyLoad } from '../../../scripts/servers/steady-load.ts';
import { Receiver } from '../events/receiver.ts';
import { Client } from '../support/client.ts';
import { emptyPostgres } from '../support/engines.ts';
import { assertGapless, eventsAfter } from '../support/event-log.ts';
import { aPet } from '../support/factories.ts';
import { tally } from '../support/replicas.ts';
import { dataDirectory } from '../support/service-process.ts';
import { emptyRedis } from '../support/test-redis.ts';
import { until } from '../support/until.ts';

const ownCheckout = join(import.meta.dirname, '../../..');

/** Requests per day of the limited key. */
const DAILY = 30;

function newestMigrationOf(checkout: string): number {
  const files = readdirSync(join(checkout, 'service/migrations'));
  return Math.max(...files.map(file => Number.parseInt(file, 10)));
}

/** A replica of the previous version with all traffic, and what the test needs to upgrade it. */
async function shopOfBefore(t: TestContext, commit: string) {
  // Runs before the database is dropped; what was started last stops first.
  const cleanUp = new AsyncDisposableStack();
  t.after(() => cleanUp.disposeAsync());
  const checkout = dataDirectory(t);
  unpackCommit(commit, checkout);
  const databaseUrl = await emptyPostgres(t);
  const redis = await emptyRedis();
  cleanUp.defer(() => redis.flush());
  const receiver = await Receiver.start();
  cleanUp.defer(() => receiver.close());
  const environment = {
    PATH: process.env.PATH,
    DATABASE_URL: databaseUrl,
    REDIS_URL: redis.url,
    LOG_LEVEL: 'warn',
    PETSTORE_DATA: dataDirectory(t),
    PETSTORE_TRUST_PROXY: '127.0.0.1',
    PETSTORE_WEBHOOKS_ALLOW_PRIVATE: 'true',
  };
  const start = async (replica: Replica) => {
    cleanUp.defer(() => replica.stop());
    await replica.start();
    const adminKey = readFileSync(join(environment.PETSTORE_DATA, 'admin.key'), 'utf8').trim();
    const api = new Client(`http://127.0.0.1:${replica.port}`, adminKey);
    cleanUp.defer(async () => api.close());
    return { replica, api, adminKey };
  };
  const old = await start(new Replica(1, environment, { checkout }));
  const balancer = new Balancer();
  cleanUp.defer(() => balancer.close(0));
  const url = await balancer.listen('127.0.0.1', 0);
  await balancer.add(old.replica.port);
  // The previous version may not know this setting, and would reject it.
  const startNew = () => start(new Replica(2, { ...environment, PETSTORE_DRAIN_SECONDS: '1' }));
  return { old, balancer, url, receiver, checkout, startNew, cleanUp };
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

describe('replicas of the previous version and of this one on one database and Redis', () => {
  const versions: [name: string, commit: () => string][] = [
    ['the previous commit', previousCommit],
    ['the last commit with an older schema', lastCommitOfSchemaBefore],
  ];
  for (const [name, commitOf] of versions) {
    it(`serve together and replace each other without a failed request: ${name}`, async t => {
      const commit = commitOf();
      const { old, balancer, url, receiver, checkout, startNew, cleanUp } = await shopOfBefore(t, commit);
      t.diagnostic(`from ${commit}`);
      const load = new SteadyLoad(url, old.adminKey, 'Load', 4);
      cleanUp.defer(async () => void (await load.stop()));
      const types = ['pet.created'];
      assert.equal((await old.api.post('/webhooks', { url: receiver.url, types })).status, 201);
      const oldPet = await aPet(old.api);

      // The new replica migrates; the old one continues.
      const next = await startNew();
      await balancer.add(next.replica.port);
      const pets = [oldPet, ...(await tradeAcross(old.api, next.api))];

      const quotas = { perMinute: 1_000, perDay: DAILY };
      const key = { name: 'Limited', plan: 'enterprise', scopes: ['pets:read'], quotas };
      const created = await old.api.post('/keys', key);
      assert.equal(created.status, 201, created.text);
      const clients = [old.api, next.api].map(api => api.as(created.body.key));
      const responses = await Promise.all(
        Array.from({ length: DAILY + 20 }, (_, i) => clients[i % 2]!.get('/pets?limit=1')),
      );
      assert.deepEqual(tally(responses), { '200': DAILY, '429 rate_limit_exceeded': 20 });

      // The old replica stops, and does not start again on a newer schema.
      balancer.remove(old.replica.port);
      await old.replica.end();
      if (newestMigrationOf(checkout) === newestMigrationOf(ownCheckout)) {
        await old.replica.start();
        await old.replica.end();
      } else {
        await assert.rejects(old.replica.start(), /newer than this program knows/);
      }
      pets.push(await aPet(next.api));
      const { reads, writes, failures } = await load.stop();
      assert.deepEqual(failures, []);
      assert.ok(reads > 0 && writes > 0);
      assert.deepEqual([...next.replica.newLogLines()], []);

      const events = await eventsAfter(next.api, 0);
      assertGapless(
        events.map(({ id }) => Number(id)),
        1,
      );
      const subjects = pets.map(petId => `pets/${petId}`);
      assert.equal(events.filter(({ type }) => type === 'category.created').length, writes + pets.length);
      const sent = () => new Set(receiver.received.map(({ event }) => event.subject));
      await until('the webhook received each pet', () => sent().size === subjects.length);
      assert.deepEqual([...sent()].toSorted(), subjects.toSorted());
    });
  }
});
