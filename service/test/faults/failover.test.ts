import assert from 'node:assert/strict';
import { appendFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startPrimaryProxy } from '../../../scripts/servers/haproxy.ts';
import { type PostgresServer, startPair } from '../../../scripts/servers/postgres.ts';
import { SECOND } from '../../src/kit/clock.ts';
import { Ledger } from '../crash/ledger.ts';
import { assertSound, isOnShelf, stockShelf } from '../crash/shelf.ts';
import { WritingClient } from '../crash/write-load.ts';
import { sized } from '../support/long.ts';
import { Random } from '../support/random.ts';
import { dataDirectory } from '../support/service-process.ts';
import { rowsIn } from '../support/test-store.ts';
import { until } from '../support/until.ts';
import { aShop, recovery, type Shop } from './shop-on-postgres.ts';

/** How often the standby is promoted in each way. */
const ROUNDS = sized(1, 10);

/** `FAULT_SEED=…` repeats the random moments of a run, but not what the machine does between them. */
const SEED = Number(process.env.FAULT_SEED ?? Date.now() | 0);

const REPLICAS = sized(2, 4);

const CLIENTS_PER_REPLICA = 4;

/** How much later than usual each replica writes after the promotion, in milliseconds. Next to other tests the machine is busy. */
const LIMIT = sized(20, 2) * SECOND;

interface Pair {
  primary: PostgresServer;
  standby: PostgresServer;
  /** The URL of a database on both servers. */
  url: string;
  /** The same without the primary. */
  promotedUrl: string;
}

async function aPair(t: TestContext): Promise<Pair> {
  const { primary, standby } = await startPair();
  t.after(async () => {
    await standby.stop();
    await primary.stop();
    for (const { directory } of [primary, standby]) assert.ok(!existsSync(directory), `${directory} is left`);
  });
  const url = new URL(await primary.createDatabase());
  const promotedUrl = url.href.replace(`:${primary.port}/`, `:${standby.port}/`);
  const hosts = [primary, standby].map(({ port }) => `127.0.0.1:${port}`);
  return {
    ...{ primary, standby, promotedUrl },
    url: `${url.href.replace(url.host, hosts.join(','))}?target_session_attrs=read-write`,
  };
}

/** The URL of the database through HAProxy, which finds the primary by `deploy/haproxy-postgresql.cfg`. */
async function throughProxy(t: TestContext, { primary, standby, promotedUrl }: Pair): Promise<string> {
  for (const { directory } of [primary, standby])
    appendFileSync(join(directory, 'data/pg_hba.conf'), 'host postgres petstore_check 127.0.0.1/32 trust\n');
  await rowsIn(primary.url, 'CREATE ROLE petstore_check LOGIN');
  for (const { url } of [primary, standby]) await rowsIn(url, 'SELECT pg_reload_conf()');
  const proxy = await startPrimaryProxy([primary.port, standby.port]);
  t.after(() => proxy.stop());
  return promotedUrl.replace(`:${standby.port}/`, `:${proxy.port}/`);
}

interface Way {
  fail: (primary: PostgresServer) => Promise<void> | void;
  /** Whether a replica connects through HAProxy, which does not notice a hang within the goal. */
  hasProxy: boolean;
}

const ways: Record<string, Way> = {
  'the primary crashes': { fail: primary => primary.kill(), hasProxy: false },
  'the primary is shut down': { fail: primary => primary.shutDown(), hasProxy: true },
  'the primary hangs': { fail: primary => primary.pause(), hasProxy: false },
};

const aWrite = ({ api }: Shop) => recovery(() => api.post('/categories', { name: crypto.randomUUID() }));

for (const [way, { fail, hasProxy }] of Object.entries(ways)) {
  describe(`when ${way} and the standby is promoted, ${ROUNDS} times under load`, () => {
    for (let round = 1; round <= ROUNDS; round++) {
      it(`no acknowledged write is lost, none is doubled, and ${REPLICAS} replicas soon write again (${round})`, async t => {
        const pair = await aPair(t);
        const { primary, standby, url, promotedUrl } = pair;
        const directory = dataDirectory(t);
        const proxied = hasProxy ? await throughProxy(t, pair) : url;
        // The first one creates the tables and the key of the administrator.
        const first = await aShop(t, url, { directory });
        const others = [proxied, url, url]
          .slice(0, REPLICAS - 1)
          .map(databaseUrl => aShop(t, databaseUrl, { directory }));
        const shops = [first, ...(await Promise.all(others))];
        const ledger = new Ledger();
        const random = new Random(SEED + round);
        const shelf = await stockShelf(first.api);
        const stopping = new AbortController();
        const clients = Promise.all(
          shops.flatMap(({ api }) =>
            Array.from({ length: CLIENTS_PER_REPLICA }, () =>
              new WritingClient(api, ledger, random, shelf).writeThroughOutagesUntil(stopping.signal),
            ),
          ),
        );
        let promotedAt = 0;
        const failOver = async () => {
          await ledger.hasGrownBy(random.between(50, 200));
          // On a busy machine, writes take long without a failure as well.
          const usual = Math.max(...(await Promise.all(shops.map(aWrite))));
          await fail(primary);
          await sleep(random.between(0, 500));
          await standby.promote();
          promotedAt = Date.now();
          const times = await Promise.all(shops.map(aWrite));
          const after = times.map(Math.round).join(', ');
          t.diagnostic(
            `seed ${SEED + round}; writes again after ${after} ms, usually ${Math.round(usual)} ms`,
          );
          // A former primary that runs again accepts writes, but has an earlier timeline.
          primary.resume();
          await ledger.hasGrownBy(random.between(50, 200));
          return Math.max(...times) - usual;
        };
        const additional = await Promise.race([
          failOver(),
          clients.then(() => assert.fail('the clients ended')),
        ]);
        stopping.abort();
        await clients;
        const read = (sql: string) => rowsIn<object>(promotedUrl, sql);
        const { sent, done } = await ledger.check(read, isOnShelf(shelf));
        await assertSound(read, shelf);
        const listening = "SELECT pid FROM pg_stat_activity WHERE query LIKE 'LISTEN%'";
        await until(
          'each replica is notified by the new primary',
          async () => (await read(listening)).length === shops.length,
        );
        t.diagnostic(
          `${ledger.acknowledged} acknowledged writes; ${done} of ${sent} uncertain ones took effect`,
        );
        for (const { service } of shops.filter(({ databaseUrl }) => databaseUrl === url)) {
          const { stdout } = await service.end('SIGTERM');
          const found = stdout
            .split('\n')
            .filter(line => line.includes('Another server has become the primary'));
          assert.equal(found.length, 1);
          assert.equal(JSON.parse(found[0]!).primary, new URL(promotedUrl).host);
          t.diagnostic(`found the new primary after ${JSON.parse(found[0]!).time - promotedAt} ms`);
        }
        assert.ok(additional < LIMIT, `a replica wrote again ${additional} ms later than usual`);

        const { api } = await aShop(t, url, { directory });
        const { body } = await api.post('/categories', { name: 'Late' });
        assert.deepEqual(await rowsIn(promotedUrl, "SELECT id FROM categories WHERE name = 'Late'"), [
          { id: body.id },
        ]);
      });
    }
  });
}
