import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { SECOND } from '../../src/kit/clock.ts';
import { Client } from '../support/client.ts';
import { type ServiceProcess, serve } from '../support/service-process.ts';
import { storeForProcesses } from '../support/test-store.ts';

/** How often the process is killed: `CRASH_ROUNDS=50 node --test …` tries harder. */
const ROUNDS = Number(process.env.CRASH_ROUNDS ?? 3);

/** Requests on their way at once. */
const CLIENTS = 4;

/** What was sent with a key, and when each answer was received, in milliseconds since the epoch. */
interface Tally {
  key: string;
  keyId: number;
  sent: number;
  answeredAt: number[];
}

async function aKey(api: Client, quotas: object): Promise<Tally> {
  const { status, body, text } = await api.post('/keys', {
    name: 'Load',
    plan: 'enterprise',
    scopes: ['pets:read'],
    quotas,
  });
  assert.equal(status, 201, text);
  return { key: body.key, keyId: body.id, sent: 0, answeredAt: [] };
}

async function askUntilCutOff(origin: string, tally: Tally): Promise<void> {
  const client = new Client(origin, tally.key);
  try {
    for (;;) {
      tally.sent++;
      assert.equal((await client.head('/pets')).status, 200);
      tally.answeredAt.push(Date.now());
    }
  } catch (error) {
    if (!/^E(CONN|PIPE)/.test(String((error as NodeJS.ErrnoException).code))) throw error;
  } finally {
    client.close();
  }
}

/** What the service has counted of a key, on whatever day. */
async function countedOf(api: Client, keyId: number): Promise<number> {
  const { body } = await api.get(`/keys/${keyId}/usage`);
  return body.days.reduce((sum: number, { admitted }: { admitted: number }) => sum + admitted, 0);
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

describe(`a process killed ${ROUNDS} times under load`, () => {
  it('has forgotten at most the requests of its last second, and counted none that was not sent', async t => {
    const { directory, environment } = await storeForProcesses(t);
    let service = await serve(t, directory, environment);
    const unlimited = { perMinute: 1_000_000, perDay: 1_000_000_000 };
    const tally = await withAdmin(service, api => aKey(api, unlimited));
    for (let round = 0; round < ROUNDS; round++) {
      const before = await withAdmin(service, api => countedOf(api, tally.keyId));
      Object.assign(tally, { sent: 0, answeredAt: [] });
      const load = Array.from({ length: CLIENTS }, () => askUntilCutOff(service.url, tally));
      await sleep(1_200 + Math.random() * SECOND);
      const killedAt = Date.now();
      await service.end('SIGKILL');
      await Promise.all(load);

      service = await serve(t, directory, environment);
      const counted = (await withAdmin(service, api => countedOf(api, tally.keyId))) - before;
      const mustBeThere = tally.answeredAt.filter(at => at <= killedAt - SECOND).length;
      assert.ok(counted >= mustBeThere, `${counted} counted, ${mustBeThere} were older than a second`);
      assert.ok(counted <= tally.sent, `${counted} counted of ${tally.sent} sent`);
      const oldestForgotten = tally.answeredAt.toSorted((a, b) => a - b)[counted] ?? killedAt;
      t.diagnostic(
        `${tally.sent} sent, ${counted} counted after the kill: forgotten is the last ${killedAt - oldestForgotten} ms`,
      );
    }
  });

  it('while it waits for a slow request at shutdown has forgotten no more', async t => {
    const { directory, environment } = await storeForProcesses(t);
    const service = await serve(t, directory, environment);
    const unlimited = { perMinute: 1_000_000, perDay: 1_000_000_000 };
    const tally = await withAdmin(service, api => aKey(api, unlimited));
    const slow = connect(Number(new URL(service.url).port), '127.0.0.1').on('error', () => {});
    t.after(() => slow.destroy());
    const head = `POST /categories HTTP/1.1\r\nHost: a\r\nX-API-Key: ${service.adminKey}\r\n`;
    slow.write(`${head}Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{`);
    const load = askUntilCutOff(service.url, tally);
    await sleep(SECOND);
    service.child.kill('SIGTERM');
    await load;
    await sleep(1_500);
    assert.equal(service.child.exitCode, null, 'it still waits');
    await service.end('SIGKILL');
    const again = await serve(t, directory, environment);
    const counted = await withAdmin(again, api => countedOf(api, tally.keyId));
    assert.ok(
      counted >= tally.answeredAt.length,
      `${counted} counted of ${tally.answeredAt.length} answered`,
    );
  });

  it('has not forgotten a ban that is older than a second', async t => {
    const { directory, environment } = await storeForProcesses(t);
    const rules = { PETSTORE_BAN_FORGIVENESS_SECONDS: '0', PETSTORE_BAN_STRIKES: '3' };
    const service = await serve(t, directory, { ...environment, ...rules });
    const { key, keyId } = await withAdmin(service, api => aKey(api, { perMinute: 1_000, perDay: 1 }));
    const codes = await withAdmin({ ...service, adminKey: key }, async client => {
      const responses = [];
      for (let i = 0; i < 4; i++) responses.push((await client.get('/pets')).body.code);
      return responses;
    });
    assert.equal(codes.at(-1), 'api_key_banned');
    const ban = await withAdmin(service, async api => (await api.get(`/keys/${keyId}`)).body.ban);
    await sleep(SECOND);
    await service.end('SIGKILL');
    const again = await serve(t, directory, { ...environment, ...rules });
    assert.deepEqual(await withAdmin(again, async api => (await api.get(`/keys/${keyId}`)).body.ban), ban);
  });
});
