import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { issueTicket } from '../../src/access/api-keys/sign-in-ticket.ts';
import { planLimits } from '../../src/access/plans/plan.ts';
import { DAY, MINUTE } from '../../src/kit/clock.ts';
import type { ApiResponse } from '../support/client.ts';
import { exchangeBytes } from '../support/raw-http.ts';
import { assertRejected } from '../support/rejection.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';

interface Attempt {
  headers?: Record<string, string>;
  body?: string;
}

/** Tries to sign in, with a Content-Type and the host of the service unless `headers` has others. */
function attempt({ origin }: TestApp, { headers = {}, body = '' }: Attempt = {}): Promise<ApiResponse> {
  const all = { host: new URL(origin).host, 'content-type': 'application/json', ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const length = body === '' ? '' : `content-length: ${Buffer.byteLength(body)}\r\n`;
  return exchangeBytes(origin, `POST /console/sign-in HTTP/1.1\r\n${lines.join('')}${length}\r\n${body}`);
}

const withTicket = (ticket: unknown) => JSON.stringify({ ticket });

function assertNoFault({ logLines }: TestApp): void {
  assert.deepEqual(
    logLines().filter(({ level }) => Number(level) > 30),
    [],
  );
}

describe('the ticket of a link that signs in', () => {
  it('is exchanged once for a key of its own, which expires and is not the administrator’s', async t => {
    const shop = await startTestApp(t);
    const body = withTicket(await issueTicket(shop.app.db, shop.clock.now()));
    const response = await attempt(shop, { body });
    assert.deepEqual([response.status, response.headers['cache-control']], [200, 'no-store']);
    const { key } = response.body;
    assert.notEqual(key, shop.adminKey);
    const { body: account } = await shop.api.as(key).get('/account');
    assert.deepEqual([account.name, account.scopes], ['Console on the first machine', ['admin']]);
    assert.equal(Date.parse(account.expiresAt) - shop.clock.now(), 30 * DAY);
    const message = assertRejected(await attempt(shop, { body }), 401, 'invalid_api_key');
    assert.match(message, /used before, has expired/);
  });

  it('is rejected from other machines, through proxies, from foreign pages and after 15 minutes', async t => {
    const shop = await startTestApp(t);
    const body = withTicket(await issueTicket(shop.app.db, shop.clock.now()));
    const rejected: Record<string, string>[] = [
      { 'x-forwarded-for': '203.0.113.7' },
      { via: '1.1 proxy' },
      { origin: 'https://evil.example' },
      // A foreign page whose host leads to this machine.
      { host: 'evil.example' },
    ];
    for (const headers of rejected) {
      assertRejected(await attempt(shop, { headers, body }), 401, 'invalid_api_key');
    }
    for (const wrong of ['', 'x'])
      assertRejected(await attempt(shop, { body: withTicket(wrong) }), 401, 'invalid_api_key');
    shop.clock.advance(15 * MINUTE);
    assertRejected(await attempt(shop, { body }), 401, 'invalid_api_key');
  });

  it('is valid for every name of this machine, in small and capital letters', async t => {
    const shop = await startTestApp(t);
    const { port } = new URL(shop.origin);
    for (const name of ['localhost', 'LOCALHOST', '127.0.0.1', '[::1]', '[::ffff:127.0.0.1]']) {
      const body = withTicket(await issueTicket(shop.app.db, shop.clock.now()));
      const { status } = await attempt(shop, { headers: { host: `${name}:${port}` }, body });
      assert.equal(status, 200, name);
    }
  });

  it('is in no log line', async t => {
    const shop = await startTestApp(t);
    const ticket = await issueTicket(shop.app.db, shop.clock.now());
    await attempt(shop, { body: withTicket(ticket) });
    assert.ok(!JSON.stringify(shop.logLines()).includes(ticket));
  });
});

describe('an attempt to sign in', () => {
  it('without a body gets a response', async t => {
    const shop = await startTestApp(t);
    const message = assertRejected(await attempt(shop), 400, 'invalid_request');
    assert.equal(message, 'The request needs a JSON object as its body');
    assertNoFault(shop);
  });

  it('whose ticket is not a text is rejected, and is not a fault of the service', async t => {
    const shop = await startTestApp(t);
    const bodies = [{ toString: 1 }, { length: 32 }, null, 7, ['x']].map(withTicket);
    for (const body of [...bodies, '{}', '[]', 'null', '"x"', '{"ticket":"x","other":1}'])
      assertRejected(await attempt(shop, { body }), 400, 'invalid_request');
    assertNoFault(shop);
  });

  it('with a Host that is not valid is rejected, and is not a fault of the service', async t => {
    const shop = await startTestApp(t);
    const body = withTicket(await issueTicket(shop.app.db, shop.clock.now()));
    for (const host of ['[', 'a b', '%zz', '127.0.0.1:99999', '']) {
      const message = assertRejected(
        await attempt(shop, { headers: { host }, body }),
        400,
        'invalid_request',
      );
      assert.match(message, /^The Host header must be/, host);
    }
    assertNoFault(shop);
  });

  it('counts against the address, also when its Host or body is not valid, and gets 429 beyond the limit', async t => {
    const shop = await startTestApp(t);
    const { perMinute } = planLimits.free;
    const attempts: Attempt[] = [{}, { headers: { host: '[' } }, { body: withTicket('x') }];
    for (let used = 1; used <= perMinute; used++) {
      const { status, headers } = await attempt(shop, attempts[used % 3]);
      assert.ok(status === 400 || status === 401);
      assert.equal(Number(headers['x-ratelimit-remaining']), perMinute - used);
    }
    const body = withTicket(await issueTicket(shop.app.db, shop.clock.now()));
    assertRejected(await attempt(shop, { body }), 429, 'rate_limit_exceeded');
    // The same bucket as that of requests without a key.
    assertRejected(await shop.api.as().get('/pets'), 429, 'rate_limit_exceeded');
    shop.clock.advance(MINUTE);
    assert.equal((await attempt(shop, { body })).status, 200);
  });
});
