import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { issueTicket } from '../../src/access/api-keys/sign-in-ticket.ts';
import { planLimits } from '../../src/access/plans/plan.ts';
import { DAY, MINUTE } from '../../src/kit/clock.ts';
import type { ApiResponse } from '../support/client.ts';
import { exchangeBytes } from '../support/raw-http.ts';
import { assertInvalid, assertRejected } from '../support/rejection.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { useShop } from '../support/use-shop.ts';
import { assertNone } from '../support/values.ts';
import { eachNoon } from './each-noon.ts';

const shop = useShop();
eachNoon(shop);

interface Attempt {
  headers?: Record<string, string>;
  body?: string;
}

/** Tries to sign in, with a Content-Type and the host of the service unless `headers` has others. */
function attempt(
  { headers = {}, body = '' }: Attempt = {},
  { origin }: Pick<TestApp, 'origin'> = shop,
): Promise<ApiResponse> {
  const all = { host: new URL(origin).host, 'content-type': 'application/json', ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const length = body === '' ? '' : `content-length: ${Buffer.byteLength(body)}\r\n`;
  return exchangeBytes(origin, `POST /console/sign-in HTTP/1.1\r\n${lines.join('')}${length}\r\n${body}`);
}

const withTicket = (ticket: unknown) => JSON.stringify({ ticket });

/** The body of an attempt with a new ticket, as if it was issued this many milliseconds from now. */
const newTicket = async (ahead = 0) => withTicket(await issueTicket(shop.app.db, shop.clock.now() + ahead));

function assertNoFault(): void {
  assertNone(shop.logLines(), ({ level }) => Number(level) > 30);
}

describe('the ticket of a link that signs in', () => {
  it('is exchanged once for a key of its own, which expires and is not the administrator’s', async () => {
    const body = await newTicket();
    const response = await attempt({ body });
    assert.deepEqual([response.status, response.headers['cache-control']], [200, 'no-store']);
    const { key } = response.body;
    assert.notEqual(key, shop.adminKey);
    const { body: account } = await shop.api.as(key).get('/account');
    assert.deepEqual([account.name, account.scopes], ['Console on the first machine', ['admin']]);
    assert.equal(Date.parse(account.expiresAt) - shop.clock.now(), 30 * DAY);
    assertRejected(await attempt({ body }), 401, 'invalid_api_key', /used before, has expired/);
    const concurrent = await newTicket();
    const results = await Promise.all(Array.from({ length: 8 }, () => attempt({ body: concurrent })));
    assert.deepEqual(results.map(({ status }) => status).sort(), [200, ...Array(7).fill(401)]);
  });

  it('is used up by a request with a test key as well, whose response is not marked as that of a test', async () => {
    const { key } = await shop.clientWith({ kind: 'test', plan: 'free', scopes: ['pets:read'] });
    const attempted = { headers: { authorization: `Bearer ${key}` }, body: await newTicket() };
    const { status, headers } = await attempt(attempted);
    assert.deepEqual([status, headers['x-test']], [200, undefined]);
    assertRejected(await attempt(attempted), 401, 'invalid_api_key');
  });

  it('is valid for less than 15 minutes, and not if a clock that ran ahead has issued it', async () => {
    for (const [age, status] of [
      [15 * MINUTE - 1, 200],
      [15 * MINUTE, 401],
    ] as const) {
      const body = await newTicket();
      shop.clock.advance(age);
      assert.equal((await attempt({ body })).status, status, `${age}`);
    }
    assert.equal((await attempt({ body: await newTicket(MINUTE) })).status, 200);
    assert.equal((await attempt({ body: await newTicket(MINUTE + 1) })).status, 401);
  });

  it('is rejected from other machines, through proxies and from foreign pages', async () => {
    const body = await newTicket();
    const rejected: Record<string, string>[] = [
      { 'x-forwarded-for': '203.0.113.7' },
      { forwarded: 'for=203.0.113.7' },
      { via: '1.1 proxy' },
      { origin: 'https://evil.example' },
      // Foreign pages whose hosts lead to this machine.
      { host: 'evil.example' },
      { host: '127.evil.example' },
    ];
    for (const headers of rejected) assertRejected(await attempt({ headers, body }), 401, 'invalid_api_key');
    shop.app.server.server.once('connection', socket =>
      Object.defineProperty(socket, 'remoteAddress', { value: '203.0.113.7' }),
    );
    assertRejected(await attempt({ body }), 401, 'invalid_api_key');
    assert.equal((await attempt({ body })).status, 200);
  });

  it('is valid for every name of this machine, in small and capital letters', async () => {
    const { port } = new URL(shop.origin);
    for (const name of ['localhost', 'LOCALHOST', '127.0.0.1', '[::1]', '[::ffff:127.0.0.1]']) {
      const { status } = await attempt({ headers: { host: `${name}:${port}` }, body: await newTicket() });
      assert.equal(status, 200, name);
    }
  });

  it('survives wrong texts and a restart, and neither the store nor the log has it', async t => {
    const shop = await startTestApp(t);
    const { db } = shop.app;
    const ticket = await issueTicket(db, shop.clock.now());
    for (const wrong of ['', 'x', `${ticket}0`, ticket.slice(5), `psin_${'0'.repeat(32)}`])
      assertRejected(await attempt({ body: withTicket(wrong) }, shop), 401, 'invalid_api_key');
    const rows = await db.all<{ hash: Buffer }>('SELECT * FROM sign_in_tickets');
    assert.deepEqual([rows.length, rows[0]!.hash.length], [1, 32]);
    assert.ok(!JSON.stringify(rows.map(({ hash }) => hash.toString('latin1'))).includes(ticket));
    const again = await shop.restart();
    assert.equal((await attempt({ body: withTicket(ticket) }, again)).status, 200);
    assert.ok(!JSON.stringify(shop.logLines()).includes(ticket));
  });
});

describe('an attempt to sign in', () => {
  it('without a body or a ticket that is a text is rejected, and is not a fault of the service', async () => {
    assertInvalid(await attempt(), 'The request needs a JSON object as its body');
    const bodies = [{ toString: 1 }, { length: 32 }, null, 7, ['x']].map(withTicket);
    for (const body of [...bodies, '{}', '[]', 'null', '"x"', '{"ticket":"x","other":1}'])
      assertInvalid(await attempt({ body }));
    assertNoFault();
  });

  it('counts against the address, also when its Host or body is not valid, and gets 429 beyond the limit', async () => {
    const { perMinute } = planLimits.free;
    const attempts: Attempt[] = [{}, { headers: { host: '[' } }, { body: withTicket('x') }];
    for (let used = 1; used <= perMinute; used++) {
      const { status, headers } = await attempt(attempts[used % 3]);
      assert.ok(status === 400 || status === 401);
      assert.equal(Number(headers['x-ratelimit-remaining']), perMinute - used);
    }
    const body = await newTicket();
    assertRejected(await attempt({ body }), 429, 'rate_limit_exceeded');
    // The same bucket as that of requests without a key.
    assertRejected(await shop.api.as().get('/pets'), 429, 'rate_limit_exceeded');
    shop.clock.advance(MINUTE);
    assert.equal((await attempt({ body })).status, 200);
  });
});
