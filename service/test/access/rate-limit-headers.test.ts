import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startTestApp } from '../support/test-app.ts';
import { limitsIn } from './limit-headers.ts';

// every-response.test.ts checks these headers of all kinds of responses.
describe('the headers RateLimit and RateLimit-Policy', () => {
  it('state both limits of the key, and for the binding window the rest and when it ends', async t => {
    const { api, clientWith, clock } = await startTestApp(t);
    const client = await clientWith({ plan: 'enterprise', quotas: { perMinute: 3, perDay: 5 } });
    const fields = async () => {
      const response = await client.get('/pets');
      limitsIn(response, clock.now());
      return [response.status, response.headers['ratelimit-policy'], response.headers.ratelimit];
    };
    const policy = '"minute";q=3;w=60, "day";q=5;w=86400';
    clock.set('2026-11-21T12:00:17.500Z');
    assert.deepEqual(await fields(), [200, policy, '"minute";r=2;t=43']);
    clock.set('2026-11-21T12:00:59.999Z');
    assert.deepEqual(await fields(), [200, policy, '"minute";r=1;t=1']);
    clock.advance(1);
    assert.deepEqual(
      await fields(),
      [200, policy, '"day";r=2;t=43140'],
      'the day when both have the same rest',
    );
    await fields();
    await fields();
    assert.deepEqual(await fields(), [429, policy, '"day";r=0;t=43140'], 'which ends later than the minute');
    await api.patch(`/keys/${client.keyId}`, { plan: 'pro' });
    assert.deepEqual(await fields(), [
      200,
      '"minute";q=300;w=60, "day";q=10000;w=86400',
      '"minute";r=296;t=60',
    ]);
  });
});
