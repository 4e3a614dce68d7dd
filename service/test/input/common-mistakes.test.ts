import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { aPet } from '../support/factories.ts';
import { assertRejected } from '../support/rejection.ts';
import { startTestApp } from '../support/test-app.ts';

/** A key that does not exist, with a correct checksum. */
const UNKNOWN_KEY = 'psk_0123456789ABCDEFGHIJKLMNOPQRSTUV4PZz5w';

const mergePatch = { 'content-type': 'application/merge-patch+json' };

describe('the message for a common mistake', () => {
  it('explains how to repeat a query parameter', async t => {
    const { api } = await startTestApp(t);
    const message = assertRejected(await api.get('/pets?id=1,2,3'), 400, 'invalid_request');
    assert.match(message, /, but was "1,2,3": repeat the parameter for each value, as in "id=1&id=2"$/);
  });

  it('suggests the name of a repeated parameter that is sent with brackets', async t => {
    const { api } = await startTestApp(t);
    const message = assertRejected(await api.get('/pets?id[]=1&id[1]=2'), 400, 'invalid_request');
    assert.equal(
      message,
      'Unknown query parameter "id[]"; did you mean `id`?; unknown query parameter "id[1]"; did you mean `id`?',
    );
  });

  it('explains how to write an offset in a URL', async t => {
    const { api } = await startTestApp(t);
    const path = '/store/orders?shipDateFrom=2026-12-01T00:00:00+01:00';
    const message = assertRejected(await api.get(path), 400, 'invalid_request');
    assert.match(message, /, but was "2026-12-01T00:00:00 01:00": in a URL, write \+ as %2B$/);
    assert.equal((await api.get(path.replace('+', '%2B'))).status, 200);
  });

  it('suggests a path', async t => {
    const { api } = await startTestApp(t);
    for (const [path, meant] of [
      ['/orders', '/store/orders'],
      ['/orders?limit=1', '/store/orders'],
      ['/inventory/1', '/store/inventory/1'],
      ['/v1/pets', '/pets'],
      ['/api/pets', '/pets'],
      ['/api/v1/store/orders', '/store/orders'],
      ['/pet/1', '/pets/1'],
      ['/v2/pet/1', '/pets/1'],
      ['/Pets', '/pets'],
      ['/category', '/categories'],
      ['/order/7', '/store/orders/7'],
      ['/store/order/7', '/store/orders/7'],
      ['/key/1/usage', '/keys/1/usage'],
      ['/pets/', '/pets'],
    ]) {
      const message = assertRejected(await api.get(path!), 404, 'route_not_found');
      assert.equal(message, `There is nothing at ${path!.split('?')[0]}; did you mean ${meant}?`);
    }
  });

  it('names the documentation where no path is near', async t => {
    const { api } = await startTestApp(t);
    for (const path of ['/animals', '/pet/findByStatus', '/v1', '/api', `/pet/${'1'.repeat(300)}`]) {
      const message = assertRejected(await api.get(path), 404, 'route_not_found');
      assert.equal(message, `There is nothing at ${path.slice(0, 200)}: /docs describes every path`);
    }
  });

  it('lists the known fields once for several unknown fields, without read-only fields', async t => {
    const { api } = await startTestApp(t);
    const messageFor = async (unknown: object) =>
      assertRejected(
        await api.post('/pets', { name: 'Rex', categoryId: 1, ...unknown }),
        400,
        'invalid_request',
      );
    const known = 'known are `name`, `categoryId`, `status`';
    assert.equal(
      await messageFor({ xx: 1, yy: 2, zz: 3 }),
      `Unknown fields \`xx\`, \`yy\`, \`zz\`; ${known}`,
    );
    assert.equal(
      await messageFor({ xx: 1, statsu: 2, zz: 3 }),
      `Unknown field \`statsu\`; did you mean \`status\`?; unknown fields \`xx\`, \`zz\`; ${known}`,
    );
    assert.equal(await messageFor({ ids: 1 }), `Unknown field \`ids\`; ${known}`);
  });

  it('states the remedy for a field that the operation does not set', async t => {
    const { api } = await startTestApp(t);
    for (const [method, path, body, message] of [
      [
        'PATCH',
        '/store/inventory/1',
        { quantity: 1, status: 'sold' },
        'Field `status` cannot be set here: it follows from the stock, and PATCH /pets/{petId} changes it',
      ],
      [
        'PUT',
        '/store/inventory/1',
        { quantity: 1, petId: 1 },
        'Field `petId` cannot be set here: leave it out',
      ],
      [
        'PATCH',
        '/pets/1',
        { quantity: 1 },
        'Field `quantity` cannot be set here: PATCH /store/inventory/{petId} sets the stock',
      ],
      [
        'PATCH',
        '/keys/1',
        { ban: null },
        'Field `ban` cannot be set here: DELETE /keys/{keyId}/ban lifts a ban',
      ],
      ['PATCH', '/keys/1', { createdAt: null }, 'Field `createdAt` cannot be set here: leave it out'],
    ] as const) {
      assert.equal(assertRejected(await api.send(method, path, { body }), 400, 'invalid_request'), message);
    }
  });

  it('explains a JSON Patch sent to an operation for merge patches', async t => {
    const { api } = await startTestApp(t);
    const petId = await aPet(api);
    const patch = [{ op: 'replace', path: '/name', value: 'Rex' }];
    for (const path of [`/pets/${petId}`, `/store/inventory/${petId}`]) {
      const asMergePatch = await api.patch(path, patch, mergePatch);
      assert.match(
        assertRejected(asMergePatch, 400, 'invalid_request'),
        /: JSON Patch is not supported; send an object with the fields to change \(RFC 7396\)$/,
      );
      const asJsonPatch = await api.patch(path, patch, { 'content-type': 'application/json-patch+json' });
      assert.equal(
        assertRejected(asJsonPatch, 415, 'unsupported_media_type'),
        'JSON Patch is not supported: send a JSON merge patch (RFC 7396) as application/merge-patch+json',
      );
    }
  });

  it('states that a completed order cannot be deleted', async t => {
    const { api } = await startTestApp(t);
    const petId = await aPet(api, { stock: 1 });
    const { body } = await api.post('/store/orders', { petId, complete: true });
    const deleted = await api.delete(`/store/orders/${body.id}`);
    assert.equal(
      assertRejected(deleted, 409, 'order_already_complete'),
      `Order ${body.id} is complete: only open orders can be deleted`,
    );
  });
});

describe('an Accept header', () => {
  it('with a type that ends in +json accepts JSON, but never excludes it', async t => {
    const { api } = await startTestApp(t);
    const types = 'application/vnd.api+json';
    for (const [accept, status] of [
      [types, 200],
      [`*/*;q=0, ${types}`, 200],
      [`${types};q=0, */*`, 200],
      [`${types};q=0`, 406],
      [`${types}, application/json;q=0`, 406],
      ['application/vnd.api+xml,', 406],
    ] as const) {
      assert.equal((await api.get('/pets', { accept })).status, status, accept);
    }
    const stream = await api.get('/events/stream', { accept: types });
    assert.match(
      assertRejected(stream, 406, 'not_acceptable'),
      /excludes: send text\/event-stream or no Accept$/,
    );
  });
});

describe('an If-Match with a weak ETag', () => {
  it('fails, and the message explains why', async t => {
    const { api } = await startTestApp(t);
    const path = `/pets/${await aPet(api)}`;
    const etag = String((await api.get(path)).headers.etag);
    const messageFor = async (ifMatch: string) =>
      assertRejected(
        await api.patch(path, { name: 'Rex' }, { 'if-match': ifMatch }),
        412,
        'precondition_failed',
      );
    assert.equal(
      await messageFor(`W/${etag}`),
      `If-Match W/${etag} is a weak ETag, which never matches: send it without W/, as ${etag}`,
    );
    assert.equal(
      await messageFor('W/"other"'),
      `If-Match W/"other" does not name the current state, whose ETag is ${etag}: ` +
        'read it again and retry, with the ETag without W/, because a weak ETag never matches',
    );
    assert.match(await messageFor('"other"'), /: read it again and retry$/);
  });
});

describe('the message for an invalid API key', () => {
  const invalid = async (shop: Awaited<ReturnType<typeof startTestApp>>, key: string) =>
    assertRejected(await shop.api.as(key).get('/pets'), 401, 'invalid_api_key');

  it('explains quotes, a wrong checksum and a text that is not a key', async t => {
    const shop = await startTestApp(t);
    const { key } = await shop.clientWith({});
    for (const surrounded of [`"${key}"`, `'${key}'`, `<${key}>`, `Bearer ${key}`, `${key},`]) {
      assert.match(
        await invalid(shop, surrounded),
        /is in quotes, or has other characters around it: send the key alone$/,
      );
    }
    const mistyped = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`;
    assert.match(await invalid(shop, mistyped), /is mistyped, because its checksum does not match: copy/);
    for (const other of ['secret', key.slice(0, -1), `${key}0`, 'psk_']) {
      assert.match(await invalid(shop, other), /^This is not an API key, which begins with `psk_` and ends /);
    }
    const quoted = await shop.api.as().get('/pets', { authorization: `Bearer "${key}"` });
    assert.match(assertRejected(quoted, 401, 'invalid_api_key'), /is in quotes/);
  });

  it('states when the key or its secret expired, but only to a client with the secret', async t => {
    const shop = await startTestApp(t);
    const expiresAt = new Date(shop.clock.now() + 60_000).toISOString();
    const { key, keyId } = await shop.clientWith({ expiresAt });
    const rotated = await shop.api.post(`/keys/${keyId}/rotate`, { graceSeconds: 30 });
    const message =
      /^The API key expired at (\S+): use its new secret, or ask an administrator for another key$/;
    assert.equal((await shop.api.as(key).get('/pets')).status, 200);
    shop.clock.advance(30_000);
    const endOfGrace = message.exec(await invalid(shop, key))?.[1];
    assert.equal(endOfGrace, rotated.body.earlierKeysExpireAt);
    shop.clock.advance(30_000);
    assert.equal(message.exec(await invalid(shop, rotated.body.key))?.[1], expiresAt);
    assert.equal(
      await invalid(shop, UNKNOWN_KEY),
      'The API key is unknown, expired or revoked: use another key',
    );
  });

  it('is the same for a revoked key as for an unknown one', async t => {
    const shop = await startTestApp(t);
    const { key, keyId } = await shop.clientWith({});
    assert.equal((await shop.api.delete(`/keys/${keyId}`)).status, 204);
    assert.equal(await invalid(shop, key), await invalid(shop, UNKNOWN_KEY));
  });
});
