import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { scopeNames } from '../../src/contract/scopes.ts';
import { MINUTE } from '../../src/kit/clock.ts';
import type { Answer, Client } from '../support/client.ts';
import { filled, type KnownOperation, operations } from '../support/operations.ts';
import { assertRefused } from '../support/refusal.ts';
import { startTestApp } from '../support/test-app.ts';

/** Sends what an operation takes, for a resource that does not exist: a key that may do it does no harm. */
function send(client: Client, { method, template, body }: KnownOperation): Promise<Answer> {
  return client.send(method, filled(template, 77), { body: body?.example });
}

function assertAdmitted({ status, text }: Answer, { operationId }: KnownOperation): void {
  assert.ok(status !== 401 && status !== 403, `${operationId} ${text}`);
}

/** The combinations of several scopes that operations need. */
const requiredTogether = new Set(
  operations.filter(({ scopes }) => scopes.length > 1).map(({ scopes }) => scopes.join(' ')),
);

describe('a key', () => {
  for (const scope of scopeNames) {
    const needing = operations.filter(({ scopes }) => scopes.includes(scope));

    it(`without the scope ${scope} is refused all that needs it, by its name`, async t => {
      const { clientWith } = await startTestApp(t);
      const others = scopeNames.filter(name => name !== scope && name !== 'admin');
      const client = await clientWith({ scopes: others });
      assert.ok(needing.length > 0, `no operation needs ${scope}`);
      for (const operation of needing) {
        const message = assertRefused(await send(client, operation), 403, 'insufficient_scope');
        assert.equal(message, `The API key lacks the scope \`${scope}\``);
      }
    });

    it(`with no scope but ${scope} may do what needs nothing else, and nothing more`, async t => {
      const { clientWith } = await startTestApp(t);
      const client = await clientWith({ scopes: [scope] });
      for (const operation of operations.filter(({ needsKey }) => needsKey)) {
        const missing = operation.scopes.filter(required => required !== scope && scope !== 'admin');
        const answer = await send(client, operation);
        if (missing.length === 0) assertAdmitted(answer, operation);
        else {
          const names = missing.map(name => `\`${name}\``).join(' and ');
          const noun = missing.length === 1 ? 'scope' : 'scopes';
          const message = assertRefused(answer, 403, 'insufficient_scope');
          assert.equal(message, `The API key lacks the ${noun} ${names}`, operation.operationId);
        }
      }
    });
  }

  for (const scopes of requiredTogether) {
    it(`with the scopes ${scopes} alone may do all that needs them`, async t => {
      const { clientWith } = await startTestApp(t);
      const client = await clientWith({ scopes: scopes.split(' ') });
      for (const operation of operations.filter(operation => operation.scopes.join(' ') === scopes))
        assertAdmitted(await send(client, operation), operation);
    });
  }

  it('with the scope admin may do everything', async t => {
    const { clientWith } = await startTestApp(t);
    const client = await clientWith({ scopes: ['admin'] });
    for (const operation of operations) assertAdmitted(await send(client, operation), operation);
  });

  it('is refused before its body is read', async t => {
    const { clientWith } = await startTestApp(t);
    const client = await clientWith({ scopes: ['pets:read'] });
    assertRefused(await client.post('/pets', '{'), 403, 'insufficient_scope');
    assertRefused(await client.post('/pets', 'x'.repeat(70_000)), 403, 'insufficient_scope');
  });
});

describe('an operation', () => {
  it('that names a scope is refused without a key, and with one that is wrong', async t => {
    const { api, clock } = await startTestApp(t);
    for (const operation of operations.filter(({ needsKey }) => needsKey)) {
      // A minute each, lest the address of the caller use up its limit.
      clock.turn(MINUTE);
      const missing = await send(api.as(), operation);
      assertRefused(missing, 401, 'missing_api_key');
      assert.equal(missing.headers['www-authenticate'], 'Bearer realm="petstore"');
      const wrong = await send(api.as('psk_wrong'), operation);
      assertRefused(wrong, 401, 'invalid_api_key');
      assert.match(
        String(wrong.headers['www-authenticate']),
        /^Bearer realm="petstore", error="invalid_token"$/,
      );
    }
  });

  it('that asks for no key takes any and none', async t => {
    const { api } = await startTestApp(t);
    const open = operations.filter(({ needsKey }) => !needsKey);
    assert.deepEqual(open.map(({ method, template }) => `${method} ${template}`).toSorted(), [
      'GET /healthz',
      'GET /openapi.json',
      'GET /openapi.yaml',
      'GET /readyz',
    ]);
    for (const operation of open) {
      for (const client of [api.as(), api.as('psk_wrong'), api]) {
        assert.equal((await send(client, operation)).status, 200);
      }
    }
  });
});
