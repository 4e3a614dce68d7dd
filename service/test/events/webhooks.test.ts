import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventsOf } from '../support/event-log.ts';
import { assertInvalid, assertRejected } from '../support/rejection.ts';
import { sweepAll, webhookShop } from './webhook-shop.ts';

describe('a webhook', () => {
  it('is created, listed, read, replaced, changed and deleted', async t => {
    const { api, receiver, shop } = await webhookShop(t);
    const created = await api.post('/webhooks', {
      url: receiver.url,
      types: ['order.*', 'pet.created'],
      description: 'The warehouse',
    });
    assert.equal(created.status, 201);
    const { secret, ...webhook } = created.body;
    assert.equal(created.headers.location, '/webhooks/101');
    assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
    assert.deepEqual(webhook, {
      id: 101,
      createdBy: 1,
      url: receiver.url,
      types: ['order.*', 'pet.created'],
      description: 'The warehouse',
      enabled: true,
      disabledReason: null,
      disabledAt: null,
      failingSince: null,
      createdAt: '2026-11-21T12:00:00.000Z',
    });
    assert.deepEqual((await api.get('/webhooks/101')).body, webhook);
    assert.deepEqual((await api.get('/webhooks')).body, [webhook]);

    const replaced = await api.put('/webhooks/101', { url: `${receiver.url}/2` });
    const { description: _gone, ...rest } = webhook;
    assert.deepEqual(replaced.body, { ...rest, url: `${receiver.url}/2`, types: null });
    const changed = await api.patch('/webhooks/101', { enabled: false, types: ['key.*'] });
    assert.deepEqual(changed.body, {
      ...replaced.body,
      types: ['key.*'],
      enabled: false,
      disabledAt: '2026-11-21T12:00:00.000Z',
    });
    const events = await eventsOf(shop, async () =>
      assert.deepEqual((await api.put('/webhooks/101', changed.body)).body, changed.body),
    );
    assert.deepEqual(events, [], 'an update that changes nothing');
    assert.equal((await api.patch('/webhooks/101', { types: null })).body.types, null);

    assert.equal((await api.delete('/webhooks/101')).status, 204);
    for (const path of ['/webhooks/101', '/webhooks/101/deliveries', '/webhooks/101/deliveries/1'])
      assertRejected(await api.get(path), 404, 'webhook_not_found');
    for (const action of ['rotate', 'test', 'deliveries/1/redeliver'])
      assertRejected(await api.post(`/webhooks/101/${action}`), 404, 'webhook_not_found');
    assertRejected(await api.post('/webhooks/101/replay', { cursor: '0' }), 404, 'webhook_not_found');
    assert.deepEqual((await api.get('/webhooks')).body, []);
  });

  it('is created from the writable fields of another one: its read-only fields are ignored', async t => {
    const { api, receiver } = await webhookShop(t);
    const readOnly = { id: 90, createdBy: 91, disabledReason: 'A reason', createdAt: '2020-01-01T00:00:00Z' };
    const times = { disabledAt: '2020-01-02T00:00:00Z', failingSince: '2020-01-01T00:00:00Z' };
    const { body: first } = await api.post('/webhooks', { url: receiver.url, description: 'The warehouse' });
    const { secret, ...webhook } = first;
    const created = await api.post('/webhooks', { ...webhook, ...readOnly, ...times });
    assert.deepEqual({ ...created.body, secret }, { ...first, id: 102 });
    const replaced = await api.put('/webhooks/101', { ...webhook, ...readOnly, ...times, id: 101 });
    assert.deepEqual(replaced.body, webhook);
  });

  it('shows its secret once: on creation and on rotation, and in no replay, list, log or stored response', async t => {
    const shop = await webhookShop(t);
    const { api, receiver } = shop;
    const once = { 'idempotency-key': 'once' };
    const create = () => api.post('/webhooks', { url: receiver.url }, once);
    const [created, replayed] = [await create(), await create()];
    assert.equal(replayed.headers['idempotency-replayed'], 'true');
    assert.equal(replayed.body.secret, undefined);
    const path = `/webhooks/${created.body.id}`;
    const rotate = () => api.post(`${path}/rotate`, {}, { 'idempotency-key': 'twice' });
    const [rotated, again] = [await rotate(), await rotate()];
    assert.deepEqual([rotated.status, again.status], [200, 200], rotated.text);
    assert.equal(again.body.secret, undefined);
    assert.equal(rotated.body.earlierSecretExpiresAt, '2026-11-22T12:00:00.000Z');
    await api.post(`${path}/test`);
    await shop.settle();
    const responses = await Promise.all(
      ['/webhooks', path, `${path}/deliveries`, `${path}/deliveries/1`, '/events'].map(target =>
        api.get(target),
      ),
    );
    const kept = await shop.shop.app.db.all('SELECT body FROM idempotency_keys');
    const texts = [...responses.map(({ text }) => text), JSON.stringify([shop.shop.logLines(), kept])];
    texts.push(...receiver.received.map(({ text }) => text));
    assert.ok(created.body.secret && rotated.body.secret && receiver.received.length === 1);
    for (const secret of [created.body.secret, rotated.body.secret]) {
      for (const text of texts) assert.ok(!text.includes(secret.slice(6, 30)), text);
    }
  });

  it('that is deleted leaves no secret behind, and no delivery after the next sweep', async t => {
    const shop = await webhookShop(t);
    const { path, secret } = await shop.webhook();
    await shop.deliver();
    await shop.api.delete(path);
    const { db } = shop.shop.app;
    assert.ok(!JSON.stringify(await db.all('SELECT * FROM webhooks')).includes(secret));
    await sweepAll(db, { before: 0, now: shop.clock.now() });
    for (const table of ['webhooks', 'webhook_deliveries', 'webhook_attempts'])
      assert.deepEqual(await db.all(`SELECT * FROM ${table}`), [], table);
  });

  it('stores the normalized form of its URL, whose length is limited, too', async t => {
    const { api } = await webhookShop(t);
    const { body } = await api.post('/webhooks', {
      url: 'HTTP://127.0.0.1:80/a%20b/../%C3%A4?c',
      enabled: false,
    });
    assert.equal(body.url, 'http://127.0.0.1/%C3%A4?c');
    const changed = await api.patch('/webhooks/101', { url: 'http://127.1' });
    assert.equal(changed.body.url, 'http://127.0.0.1/');
    // Parsing encodes an apostrophe in a query with three characters.
    const longest = { url: `http://127.0.0.1/?${"'".repeat(660)}ab` };
    assert.equal((await api.patch('/webhooks/101', longest)).body.url.length, 2_000);
    const long = { url: `http://127.0.0.1/?${"'".repeat(800)}` };
    for (const response of [await api.post('/webhooks', long), await api.patch('/webhooks/101', long)]) {
      assertInvalid(
        response,
        'Field `url` must have at most 2000 characters after percent-encoding, but has 2418',
      );
    }
  });

  const rejected: [what: string, body: object, message: RegExp][] = [
    ['no URL', {}, /^Field `url` is required$/],
    ['a text that is not a URL', { url: 'hook' }, /^Field `url` must be a URL, such as `https:/],
    ['an impossible address', { url: 'https://256.1.1.1/' }, /^Field `url` must be a URL, such as `https:/],
    [
      'another scheme',
      { url: 'ftp://example.com' },
      /^Field `url` must start with .*but starts with `ftp:`$/,
    ],
    ['a user name', { url: 'https://a@example.com/' }, /must not contain a user name or password$/],
    ['a password', { url: 'https://:b@example.com/' }, /must not contain a user name or password$/],
    [
      'a fragment',
      { url: 'https://example.com/#a' },
      /must not have a fragment, because fragments are never sent$/,
    ],
    ['port 0', { url: 'https://example.com:0/' }, /must not have port 0$/],
    ['a control character', { url: 'https://exam\nple.com' }, /control characters .* are percent-encoded/],
    ['a space', { url: 'https://example.com/a b' }, /must be a URL, .* in which spaces/],
    ['a letter outside ASCII', { url: 'https://example.com/ä' }, /must be a URL, .* outside ASCII/],
    ['a long URL', { url: `https://a/${'x'.repeat(2_000)}` }, /must have at most 2000 characters/],
    [
      'an unknown host',
      { url: 'https://nowhere.example/' },
      /must have a host with a public address, but none was found for nowhere\.example$/,
    ],
    ['no type', { types: [] }, /^Field `types` must have at least 1 item/],
    [
      'an unknown type',
      { types: ['pet.create'] },
      /no event type `pet\.create`; did you mean `pet\.created`\?$/,
    ],
    ['an unknown kind', { types: ['cat.*'] }, /no event type `cat\.\*`/],
    ['a type twice', { types: ['pet.*', 'pet.*'] }, /must not name an item twice/],
    ['an unknown field', { type: ['pet.*'] }, /^Unknown field `type`; did you mean `types`\?$/],
  ];
  it('with a wrong setting is rejected, and the message states the problem', async t => {
    const { api, receiver } = await webhookShop(t);
    assert.equal((await api.post('/webhooks', { url: receiver.url })).status, 201);
    for (const [what, body, message] of rejected) {
      const url = 'url' in body || what === 'no URL' ? {} : { url: receiver.url };
      const responses = [await api.post('/webhooks', { ...url, ...body })];
      if (what !== 'no URL') responses.push(await api.patch('/webhooks/101', body));
      for (const response of responses) assert.match(assertInvalid(response), message, what);
    }
  });

  it('accepts a grace of at most a week for a rotation, and a cursor of the log for a replay', async t => {
    const shop = await webhookShop(t);
    const { path } = await shop.webhook();
    for (const graceSeconds of [-1, 0.5, 7 * 86_400 + 1, '60', null])
      assertInvalid(await shop.api.post(`${path}/rotate`, { graceSeconds }));
    for (const cursor of ['x', '-1', '']) assertInvalid(await shop.api.post(`${path}/replay`, { cursor }));
    assertRejected(await shop.api.post(`${path}/replay`, { cursor: '99' }), 410, 'log_restored');
  });
});
