import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { compile } from '../support/compile.ts';
import { importClient, importVerification } from '../support/packed-client.ts';
import { compared, servicePair, signWebhook, testService } from '../support/service-pair.ts';
import { valuesOf } from '../support/values.ts';

const { NotFoundError, PetStore, PreconditionError, RateLimitError } = await importClient();
const { verifyWebhook } = await importVerification();

async function shopWithPet(options?: Parameters<typeof testService>[0]) {
  const store = new PetStore(testService(options));
  const category = await store.categories.create({ name: 'Dogs' });
  const pet = await store.pets.create({ name: 'Rex', categoryId: category.id });
  return { store, category, pet };
}

describe('a program with the test service', () => {
  it('places orders, meets errors, and runs batches', async () => {
    const { store, pet } = await shopWithPet();
    const { data, etag } = await store.inventory.get(pet.id).withResponse();
    assert.equal(data.quantity, 1);
    await store.inventory.set(pet.id, { quantity: 5 }, { ifMatch: etag });
    await assert.rejects(store.inventory.set(pet.id, { quantity: 6 }, { ifMatch: etag }), PreconditionError);
    const order = await store.orders.create({ petId: pet.id, quantity: 2 });
    await assert.rejects(store.orders.get(order.id + 1), NotFoundError);
    assert.equal((await store.inventory.get(pet.id)).quantity, 3);
    const batch = store.batch();
    const cats = batch.categories.create({ name: 'Cats' });
    const tom = batch.pets.create({ name: 'Tom', categoryId: cats });
    const results = await batch.run();
    assert.equal(results.get(tom).categoryId, results.get(cats).id);
    assert.deepEqual(valuesOf(await store.pets.list({ q: 'to' }).toArray({ limit: 5 }), 'name'), ['Tom']);
    await assert.rejects(store.webhooks.list().first(), { code: 'route_not_found' });
  });

  it('gets a request ID of its own for each request without one', async () => {
    const { baseUrl, fetch } = testService();
    const idOf = async (headers: Record<string, string> = {}) =>
      (await fetch(`${baseUrl}/healthz`, { headers })).headers.get('x-request-id')!;
    const ids = [await idOf(), await idOf(), await idOf({ 'x-request-id': 'mine' })];
    assert.match(ids[0]!, /^[\da-f]{8}-/);
    assert.equal(new Set(ids).size, 3);
    assert.equal(ids[2], 'mine');
  });

  it('gets to know the limits of its plan', async () => {
    const store = new PetStore({ ...testService({ quotas: { perMinute: 3, perDay: 100 } }), maxWait: 0 });
    for (let i = 0; i < 3; i++) await store.pets.list();
    await assert.rejects(store.pets.list().first(), RateLimitError);
    assert.equal((await store.account.get()).windows.minute.used, 3);
  });

  it('follows events, and ends its subscriptions', async () => {
    const { store, pet } = await shopWithPet();
    const seen: string[] = [];
    const end = new AbortController();
    const reading = (async () => {
      for await (const event of store.events.subscribe({
        from: 0,
        types: ['pet.*', 'order.*'],
        signal: end.signal,
      })) {
        seen.push(`${event.id} ${event.type} ${event.actor}`);
        if (event.type === 'order.placed') end.abort(new Error('enough'));
      }
    })();
    await store.orders.create({ petId: pet.id });
    await assert.rejects(reading, /enough/);
    assert.deepEqual(seen, ['2 pet.created keys/2', '4 pet.updated keys/2', '5 order.placed keys/2']);
    const waiting = store.events.list({ cursor: 'latest', wait: 30 }).first();
    await store.pets.update(pet.id, { name: 'Max' });
    assert.equal((await waiting)?.type, 'pet.updated');
    // A loop that ends frees its stream: a key has 20.
    for (let i = 0; i < 25; i++) for await (const _ of store.events.subscribe({ from: 0 })) break;
  });

  it('aborts a long poll, which rejects as `fetch` does', async () => {
    const { baseUrl, apiKey, fetch } = testService();
    const end = new AbortController();
    const headers = { 'x-api-key': apiKey };
    const waiting = fetch(`${baseUrl}/events?wait=1`, { headers, signal: end.signal });
    setImmediate(() => end.abort());
    await assert.rejects(waiting, { name: 'AbortError' });
  });

  it('aborts a call at once, which is then not executed', async () => {
    const { store } = await shopWithPet();
    const end = new AbortController();
    const creating = store.categories.create({ name: 'Cats' }, { signal: end.signal });
    end.abort(new Error('left the page'));
    await assert.rejects(creating, /left the page/);
    assert.deepEqual(valuesOf((await store.categories.list()).items, 'name'), ['Dogs']);
  });

  it('gets an error for a cursor after which events have expired', async () => {
    const { store, category } = await shopWithPet();
    // After these 10,000 events, the log has lost the two of the shop.
    for (let i = 0; i < 10; i++) {
      const batch = store.batch();
      for (let j = 0; j < 1_000; j++) batch.categories.update(category.id, { description: `${i}.${j}` });
      await batch.run();
    }
    const after = (cursor: string) => store.events.list({ cursor }).first();
    await assert.rejects(after('1'), { code: 'cursor_expired' });
    assert.equal((await after('2'))?.id, '3');
  });
});

it('a stream of the test service has the same text as that of the service', async t => {
  const both = await servicePair(t);
  await both.send('POST', '/categories', { name: 'Dogs' });
  const [real, imitated] = await Promise.all(
    both.services.map(async ({ fetch, origin, key }) => {
      const url = `${origin}/events?type=category.*`;
      const { body } = await compared(await fetch(url, { headers: { 'x-api-key': key } }));
      assert.equal((body as unknown[]).length, 1);
      const stop = new AbortController();
      const response = await fetch(`${origin}/events/stream?type=category.*&cursor=0`, {
        headers: { 'x-api-key': key },
        signal: stop.signal,
      });
      let text = '';
      for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
        text += chunk;
        if (text.includes('data:') && text.endsWith('\n\n')) break;
      }
      stop.abort();
      const own = /(?<="id":"|^id: )\d+|(?<="actor":"|"requestid":")[^"]*/gm;
      return { type: response.headers.get('content-type'), text: text.replace(own, '…') };
    }),
  );
  assert.deepEqual(imitated, real);
});

it('a HEAD of a stream has the headers of the service, and no body', async t => {
  const { services } = await servicePair(t);
  const [real, imitated] = await Promise.all(
    services.map(async ({ fetch, origin, key }) => {
      const init = { method: 'HEAD', headers: { 'x-api-key': key } };
      const { status, headers, body } = await fetch(`${origin}/events/stream`, init);
      return { status, body, type: headers.get('content-type'), cache: headers.get('cache-control') };
    }),
  );
  assert.deepEqual(imitated, real);
});

it('the test service rejects a 21st stream of a key like the service', async t => {
  const { services } = await servicePair(t);
  const [real, imitated] = await Promise.all(
    services.map(async ({ fetch, origin, key }) => {
      const stop = new AbortController();
      t.after(() => stop.abort());
      const open = () =>
        fetch(`${origin}/events/stream`, { headers: { 'x-api-key': key }, signal: stop.signal });
      for (let i = 0; i < 20; i++) assert.equal((await open()).status, 200);
      const rejected = await open();
      const { message } = (await rejected.clone().json()) as { message: string };
      return [message, await compared(rejected)];
    }),
  );
  assert.match(real![0] as string, /has 20 open streams/);
  assert.deepEqual(imitated, real);
});

describe('signWebhook', () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const event = { specversion: '1.0', id: '1', type: 'pet.created', data: { name: 'Zoë' } };

  it('signs as the standard says, so that receivers accept the event and reject a changed one', async () => {
    const { headers, body } = await signWebhook(event, secret);
    assert.deepEqual(new Webhook(secret).verify(body, headers), event);
    assert.deepEqual(await verifyWebhook(headers, body, secret), event);
    await assert.rejects(verifyWebhook(headers, body.replace('Zoë', 'Zoe'), secret), /No signature/);
  });

  it('signs old deliveries, and repeats with the same ID, which is a new one unless it is set', async () => {
    const signed = await Promise.all([signWebhook(event, secret), signWebhook(event, secret)]);
    assert.equal(new Set(signed.map(({ headers }) => headers['webhook-id'])).size, 2);
    const { headers, body } = await signWebhook(event, secret, { id: 'msg_1', timestamp: new Date(0) });
    assert.equal(headers['webhook-id'], 'msg_1');
    await assert.rejects(verifyWebhook(headers, body, secret), /not within 300 s/);
  });
});

for (const options of [
  { module: 'esnext', moduleResolution: 'bundler', lib: ['es2022', 'dom'] },
  { module: 'node16', exactOptionalPropertyTypes: true, lib: ['es2022', 'dom'] },
])
  it(`the types of the test service compile with ${JSON.stringify(options)}, and reject mistakes`, t => {
    const program = `import { PetStore } from '@petstore/client';
      import { signWebhook, testService } from '@petstore/client/testing';
      const service = testService({ plan: 'free', scopes: ['pets:read'] });
      export const store = new PetStore({ ...service, maxWait: 0 });
      export const other = new PetStore(service);
      export const text: string = (await signWebhook({}, 'whsec_', { timestamp: new Date() })).headers['webhook-id'];
      // @ts-expect-error
      testService({ plan: 'gold' });
      // @ts-expect-error
      testService({ scopes: ['pets'] });`;
    assert.equal(compile(t, [program], options), '');
  });
