import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { planLimits } from '../../src/access/plans/plan.ts';
import { DAY, MINUTE, SECOND } from '../../src/kit/clock.ts';
import { codes, provokeBan, usedUp } from '../access/provoke-ban.ts';
import type { ApiResponse, Client } from '../support/client.ts';
import { assertRejected } from '../support/rejection.ts';
import { type NewKey, startTestApp, type TestApp } from '../support/test-app.ts';

const REPLICAS = 4;

interface Fleet extends TestApp {
  /** Clients of one key, one for each replica. */
  clientsWith: (key: NewKey) => Promise<Client[]>;
}

async function startFleet(t: TestContext, environment: Record<string, string> = {}): Promise<Fleet> {
  const shop = await startTestApp(t, { shared: true, environment });
  const others: Client[] = [];
  while (others.length < REPLICAS - 1) others.push((await shop.replica()).api);
  return {
    ...shop,
    clientsWith: async key => {
      const client = await shop.clientWith(key);
      return [client, ...others.map(other => other.as(client.key))];
    },
  };
}

/** Sends this many requests at once, distributed over the replicas. */
function burst(clients: readonly Client[], count: number): Promise<ApiResponse[]> {
  return Promise.all(
    Array.from({ length: count }, (_, i) => clients[i % clients.length]!.get('/pets?limit=1')),
  );
}

function admitted(responses: readonly ApiResponse[]): number {
  return responses.filter(({ status }) => status === 200).length;
}

describe('four replicas that share a key', () => {
  const plans: [name: string, key: NewKey, perMinute: number][] = [
    ['free', { plan: 'free' }, planLimits.free.perMinute],
    ['pro', { plan: 'pro' }, planLimits.pro.perMinute],
    ['business', { plan: 'business' }, planLimits.business.perMinute],
    ['enterprise', { plan: 'enterprise', quotas: { perMinute: 137, perDay: 1_000 } }, 137],
  ];
  for (const [name, key, perMinute] of plans) {
    it(`admit exactly the ${perMinute} requests of a minute of plan ${name}, in each of two minutes`, async t => {
      const { clock, clientsWith } = await startFleet(t);
      const clients = await clientsWith(key);
      for (let minute = 0; minute < 2; minute++) {
        // The last millisecond of this minute, and then the first of the next.
        const first = await burst(clients, Math.ceil(perMinute / 2));
        clock.advance(MINUTE - 1 - (clock.now() % MINUTE));
        const last = await burst(clients, perMinute);
        assert.equal(admitted(first) + admitted(last), perMinute);
        clock.advance(1);
      }
      assert.equal(admitted(await burst(clients, perMinute + 20)), perMinute);
    });
  }

  it('admit exactly the requests of a day, across minutes and midnight', async t => {
    const { clock, clientsWith } = await startFleet(t);
    const clients = await clientsWith({ plan: 'enterprise', quotas: { perMinute: 100, perDay: 350 } });
    clock.advance(DAY - 4 * MINUTE - (clock.now() % DAY));
    const admittedPerMinute: number[] = [];
    for (let minute = 0; minute < 6; minute++) {
      admittedPerMinute.push(admitted(await burst(clients, 120)));
      clock.advance(MINUTE);
    }
    assert.deepEqual(admittedPerMinute, [100, 100, 100, 50, 100, 100]);
  });

  it('never contradict each other in the remaining quota', async t => {
    const { clientsWith } = await startFleet(t);
    const clients = await clientsWith({ plan: 'free' });
    const remaining = (await burst(clients, 60)).map(({ headers }) =>
      Number(headers['x-ratelimit-remaining']),
    );
    assert.deepEqual(
      remaining.toSorted((a, b) => a - b),
      Array.from({ length: 60 }, (_, i) => i),
    );
  });

  it('ban it together: rejections at all replicas count, and the ban applies at all of them', async t => {
    const fleet = await startFleet(t);
    const client = await usedUp(fleet);
    const elsewhere = (await fleet.replica()).api;
    await provokeBan(fleet, client);
    assertRejected(await elsewhere.as(client.key).get('/pets'), 429, 'api_key_banned');
    const { body } = await elsewhere.get(`/keys/${client.keyId}`);
    assert.equal(typeof body.ban.until, 'string');
    fleet.clock.advance(MINUTE + SECOND);
    assert.notDeepEqual(await codes(elsewhere.as(client.key), 1), ['api_key_banned']);
  });

  it('count an address together', async t => {
    const fleet = await startFleet(t);
    const clients = (await fleet.clientsWith({ plan: 'free' })).map(client => client.as(undefined));
    const responses = await burst(clients, 80);
    assert.equal(responses.filter(({ status }) => status === 401).length, planLimits.free.perMinute);
  });
});
