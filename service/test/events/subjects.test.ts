import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readConfig } from '../../src/config.ts';
import { eventsAfter, settledCursor } from '../support/event-log.ts';
import { EventReader } from '../support/event-reader.ts';
import { anOrder, aPet } from '../support/factories.ts';
import { assertInvalid } from '../support/rejection.ts';
import { startTestApp } from '../support/test-app.ts';
import { useShop } from '../support/use-shop.ts';
import { webhookShop } from './webhook-shop.ts';

const PUBLIC = 'https://shop.example/petstore';

describe('source and subject of an event', () => {
  it('are together the URL of the resource that changed', async t => {
    const shop = await startTestApp(t, { environment: { PETSTORE_PUBLIC_URL: PUBLIC } });
    const pet = await aPet(shop.api, { stock: 5 });
    await anOrder(shop.api, { petId: pet });
    await shop.clientWith({ scopes: ['pets:read'] });
    await settledCursor(shop);
    const events = await eventsAfter(shop.api, 0);
    // The last event of a resource has its present state.
    const latest = new Map(events.map(event => [new URL(event.subject, event.source).href, event.data]));
    assert.deepEqual(
      new Set([...latest.keys()].map(url => url.replace(/\/\d+$/, ''))),
      new Set(
        ['pets', 'categories', 'store/orders', 'store/inventory', 'keys'].map(path => `${PUBLIC}/${path}`),
      ),
    );
    for (const [url, data] of latest) {
      const { status, body } = await shop.api.get(url.slice(PUBLIC.length));
      // The requests of this test use a key.
      const { lastUsedAt: _, lastUsedFrom: __, lastUsedClient: ___, ...expected } = data;
      assert.partialDeepStrictEqual([status, body], [200, expected], url);
    }
  });

  it('are the same bytes on pages, in streams and in webhooks', async t => {
    const shop = await webhookShop(t, { environment: { PETSTORE_PUBLIC_URL: PUBLIC } });
    const { path } = await shop.webhook();
    const follower = await EventReader.open(shop.shop.origin, shop.shop.adminKey);
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    // All characters that a request ID may have.
    const requestid = 'Az09._~:/+=-';
    await shop.api.post('/store/orders', {}, { 'x-request-id': requestid, traceparent });
    await shop.settle();
    const page = await shop.api.get('/events?type=order.*');
    await follower.untilEvents(1);
    const reader = await EventReader.open(shop.shop.origin, shop.shop.adminKey, {
      path: '/events/stream?cursor=0&type=order.*',
    });
    await reader.untilEvents(1);
    await shop.receiver.has(1);
    const [event] = page.body;
    const expected = {
      source: `${PUBLIC}/`,
      subject: 'store/orders/1',
      actor: 'keys/1',
      requestid,
      traceparent,
    };
    assert.partialDeepStrictEqual(event, expected);
    assert.equal(page.text, `[${shop.receiver.received[0]!.text}]`);
    assert.deepEqual([follower.events, reader.events], [page.body, page.body]);
    const [delivery] = await shop.read(`${path}/deliveries`);
    assert.equal(delivery.subject, 'store/orders/1');
    await shop.api.post(`${path}/test`);
    await shop.settle();
    const tests = await shop.api.get('/events?type=webhook.test');
    assert.equal(tests.text, `[${shop.receiver.received[1]!.text}]`);
    await follower.close();
    await reader.close();
  });
});

describe('the filter by subject', () => {
  const shop = useShop();

  it('accepts each subject that events have', async () => {
    await anOrder(shop.api, { petId: await aPet(shop.api, { stock: 5 }) });
    await settledCursor(shop);
    const subjects = new Set((await eventsAfter(shop.api, 0)).map(({ subject }) => subject));
    assert.ok(subjects.has('store/orders/1') && subjects.has('store/inventory/1'));
    for (const subject of subjects) {
      const found = await eventsAfter(shop.api, 0, `&subject=${subject}`);
      assert.deepEqual(new Set(found.map(event => event.subject)), new Set([subject]));
    }
    assert.deepEqual(await eventsAfter(shop.api, 0, '&subject=pets/9007199254740991'), []);
  });

  const rejected: [subject: string, advice: string][] = [
    ['orders/17', 'did you mean `store/orders/17`?'],
    ['order/17', 'did you mean `store/orders/17`?'],
    ['inventory/3', 'did you mean `store/inventory/3`?'],
    ['store/order/17', 'did you mean `store/orders/17`?'],
    ['store/pets/1', 'did you mean `pets/1`?'],
    ['pet/1', 'did you mean `pets/1`?'],
    ['Pets/1', 'did you mean `pets/1`?'],
    ['categorys/2', 'did you mean `categories/2`?'],
    ['/pets/1', 'did you mean `pets/1`?'],
    ['https://shop.example/store/orders/4', 'did you mean `store/orders/4`?'],
    ['pets/x', 'did you mean `pets/` with the ID of a resource, such as `pets/42`?'],
    ['pets/0', 'did you mean `pets/` with the ID of a resource, such as `pets/42`?'],
    ['pets/01', 'did you mean `pets/` with the ID of a resource, such as `pets/42`?'],
    ['pets/9007199254740992', 'did you mean `pets/` with the ID of a resource, such as `pets/42`?'],
    ['orders/', 'did you mean `store/orders/` with the ID of a resource, such as `store/orders/42`?'],
    ['pets', 'did you mean `pets/` with the ID of a resource, such as `pets/42`?'],
    ['constructor/1', 'a subject is one of'],
    ['something-else', 'a subject is one of'],
  ];

  it('rejects a subject that cannot exist, and suggests the nearest kind', async () => {
    for (const path of ['/events', '/events/stream']) {
      for (const [subject, advice] of rejected) {
        const response = await shop.api.get(`${path}?subject=${encodeURIComponent(subject)}`);
        const message = assertInvalid(response);
        assert.ok(message.startsWith(`There is no subject \`${subject}\`; ${advice}`), message);
      }
    }
  });
});

describe('PETSTORE_PUBLIC_URL', () => {
  const publicUrlOf = (url: string) => readConfig({ PETSTORE_PUBLIC_URL: url }).publicUrl;

  it('is a URL to which a subject can be appended', () => {
    assert.equal(publicUrlOf('https://shop.example'), 'https://shop.example/');
    assert.equal(publicUrlOf('HTTP://Shop.example:8080/a/b'), 'http://shop.example:8080/a/b/');
    assert.equal(publicUrlOf('https://shop.example/a"b/'), 'https://shop.example/a%22b/');
    assert.equal(readConfig({}).publicUrl, '/');
  });

  it('stops the start if it is not such a URL', () => {
    for (const url of [
      'shop.example',
      '/',
      'ftp://shop.example',
      'https://a:b@shop.example',
      'https://x/?y',
      'https://x/#',
    ]) {
      assert.throws(() => publicUrlOf(url), /^Error: PETSTORE_PUBLIC_URL must be the http or https URL/, url);
    }
  });
});
