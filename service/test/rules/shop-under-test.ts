import assert from 'node:assert/strict';
import { MINUTE } from '../../src/kit/clock.ts';
import { assertMatchesContract } from '../support/contract.ts';
import { eventsAfter, settledCursor } from '../support/event-log.ts';
import type { CloudEvent } from '../support/event-reader.ts';
import { assertInvariants } from '../support/invariants.ts';
import type { Replica, TestApp } from '../support/test-app.ts';
import { type ExpectedBatch, respondToBatch } from './shop-batch-model.ts';
import { type Expected, ShopModel } from './shop-model.ts';
import type { BatchOfOperations, Operation, Step } from './shop-operations.ts';
import { bodyOf, finderIn, type Ids, labelled, settled } from './shop-requests.ts';
import { type Fields, type ModelRequest, pathOf, type Resource, rejectionStatus } from './shop-shapes.ts';

interface Result {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: bodies of every shape
  body: any;
}

interface ApiResponse extends Result {
  headers: Record<string, string>;
}

/** The service and its model: both take every step. */
export class ShopUnderTest {
  readonly #test: TestApp;
  /** The service, and other replicas of it. Each request is sent to the next one. */
  readonly #replicas: readonly Replica[];
  #requests = 0;
  #model = new ShopModel();
  /** The error codes returned so far. */
  readonly rejections = new Set<string>();
  /** The changes of a pet's status so far, with the resource that was written: `available → sold by pets`. */
  readonly transitions = new Set<string>();
  /** The cursor at the start of the sequence. */
  #start = '0';
  /** The IDs assigned so far, by resource. */
  #ids: Ids = { categories: [], pets: [], orders: [] };

  constructor(test: TestApp, others: readonly Replica[]) {
    this.#test = test;
    this.#replicas = [test, ...others];
  }

  /** Empties the shop and advances the clock by a minute, because limits are per minute. */
  async empty(): Promise<void> {
    const { app, clock } = this.#test;
    await app.db.write(tx =>
      Promise.all(['orders', 'pets', 'categories', 'events'].map(table => tx.run(`DELETE FROM ${table}`))),
    );
    clock.advance(MINUTE);
    this.#start = await settledCursor(this.#test);
    this.#model = new ShopModel();
    this.#ids = { categories: [], pets: [], orders: [] };
  }

  async step(step: Step): Promise<void> {
    await ('operations' in step ? this.#batchStep(step) : this.#singleStep(step));
  }

  async #singleStep(operation: Operation): Promise<void> {
    const request = settled(operation, finderIn(this.#ids));
    const response = await this.#send(request);
    const exchange = `${JSON.stringify(request)} → ${response.status} ${JSON.stringify(response.body)}`;
    const newId = this.#noteNewId(request, response);
    const before = new Map([...this.#model.pets].map(([id, { status }]) => [id, status]));
    const expected = this.#model.respond(request, this.#test.clock.now(), newId);
    for (const [id, { status }] of this.#model.pets) {
      const from = before.get(id) ?? status;
      if (from !== status) this.transitions.add(`${from} → ${status} by ${request.resource}`);
    }
    assertExpected(response, expected, exchange);
    if ('codes' in expected) this.rejections.add(response.body.code);
    await this.#assertSameState(exchange);
  }

  async #batchStep({ atomic, operations }: BatchOfOperations): Promise<void> {
    const batch = { atomic, operations: labelled(operations, finderIn(this.#ids)) };
    const response = await this.#exchange('POST', '/batch', bodyOf(batch));
    const exchange = `${JSON.stringify(batch)} → ${response.status} ${JSON.stringify(response.body)}`;
    const newIds = batch.operations.map((operation, i) => {
      const { status, body } = response.body.results?.[i] ?? {};
      return this.#noteNewId(operation, { status, body });
    });
    const expected = respondToBatch(this.#model, batch, this.#test.clock.now(), newIds);
    assertExpectedBatch(response, expected, exchange);
    await this.#assertSameState(exchange);
  }

  #send({ method, resource, id, body, query, stale }: ModelRequest): Promise<ApiResponse> {
    const search = new URLSearchParams({ limit: '100', ...query });
    const path = pathOf(method, resource, id);
    const url = method === 'GET' && id === undefined ? `${path}?${search}` : path;
    return this.#exchange(method, url, body, stale ? { 'if-match': '"stale"' } : {});
  }

  async #exchange(
    method: ModelRequest['method'],
    url: string,
    body: object | undefined,
    extra: Record<string, string> = {},
  ): Promise<ApiResponse> {
    const { app } = this.#replicas[this.#requests++ % this.#replicas.length]!;
    const response = await app.server.inject({
      method,
      url,
      headers: {
        'x-api-key': this.#test.adminKey,
        ...(body && { 'content-type': 'application/json' }),
        ...extra,
      },
      ...(body && { payload: JSON.stringify(body) }),
    });
    const { statusCode: status, payload: text } = response;
    const headers = response.headers as Record<string, string>;
    assertMatchesContract({ method, path: url, status, headers, text });
    return { status, headers, body: text === '' ? undefined : JSON.parse(text) };
  }

  /** Checks that the service never assigned this ID before. */
  #noteNewId({ method, resource }: ModelRequest, { status, body }: Result): number {
    if (method !== 'POST' || status !== 201 || resource === 'inventory') return Number.NaN;
    const ids = this.#ids[resource];
    assert.ok(body.id > (ids.at(-1) ?? 0), `ID ${body.id} after ${ids.at(-1)}`);
    ids.push(body.id);
    return body.id;
  }

  /** Checks that the store matches the model and breaks none of its own rules. */
  async #assertSameState(exchange: string): Promise<void> {
    const { db } = this.#test.app;
    const { categories, pets, orders } = this.#model;
    // All at once, which is one round trip to a server.
    const stored = await Promise.all([
      db.all('SELECT id, name, description FROM categories ORDER BY id'),
      db.all('SELECT id, name, category_id, status, quantity FROM pets ORDER BY id'),
      db.all('SELECT id, pet_id, quantity, ship_date, complete FROM orders ORDER BY id'),
      assertInvariants(sql => db.all(sql)),
    ]);
    const rowsOf = <T>(items: ReadonlyMap<number, T>, row: (item: T) => object) =>
      Array.from(items, ([id, item]) => ({ id, ...row(item) }));
    const expected = [
      rowsOf(categories, ({ name, description = null }) => ({ name, description })),
      rowsOf(pets, ({ name, categoryId, status, quantity }) => ({
        name,
        category_id: categoryId,
        status,
        quantity,
      })),
      rowsOf(orders, ({ petId = null, quantity, shipDate, complete }) => ({
        pet_id: petId,
        quantity,
        ship_date: shipDate === undefined ? null : Date.parse(shipDate),
        complete: complete ? 1 : 0,
      })),
    ];
    assert.deepEqual(stored.slice(0, 3), expected, exchange);
  }

  /** Checks that the events of the sequence, applied one after another, result in the shop as it is. */
  async assertRebuilt(): Promise<void> {
    await settledCursor(this.#test);
    const rebuilt = rebuild(await eventsAfter(this.#test.api, this.#start));
    for (const [resource, collection] of Object.entries(collections)) {
      const request: ModelRequest = { method: 'GET', resource: resource as Resource };
      const { body } = this.#model.respond(request, 0, 0) as { body: Fields[] };
      const events = [...rebuilt].filter(([subject]) => subject.startsWith(`${collection}/`));
      const byId = (a: Fields, b: Fields) => Number(a.id ?? a.petId) - Number(b.id ?? b.petId);
      assert.deepEqual(events.map(([, data]) => data).sort(byId), body);
    }
  }
}

/** The paths of the resources, as the subjects of events have them. */
const collections: Record<Resource, string> = {
  categories: 'categories',
  pets: 'pets',
  inventory: 'store/inventory',
  orders: 'store/orders',
};

/** Applies events to an empty shop. Returns its resources by subject. A pet's stock is created and deleted with the pet. */
function rebuild(events: readonly CloudEvent[]): Map<string, Fields> {
  const resources = new Map<string, Fields>();
  for (const { type, subject, data } of events) {
    const stock = subject.replace(/^pets/, 'store/inventory');
    if (/\.(deleted|cancelled)$/.test(type)) {
      assert.deepEqual(data, resources.get(subject), `${type} does not contain the last state`);
      resources.delete(subject);
      resources.delete(stock);
      continue;
    }
    resources.set(subject, data);
    if (type === 'pet.created') {
      const { id, status } = data;
      resources.set(stock, { petId: id, quantity: status === 'sold' ? 0 : 1, status });
    }
  }
  return resources;
}

function assertExpected({ status, body }: Result, expected: Expected, exchange: string): void {
  if ('codes' in expected) {
    assert.ok(
      expected.codes.includes(body?.code),
      `${exchange}, but the model rejects: ${expected.codes.join(' or ')}`,
    );
    assert.equal(status, rejectionStatus[body.code], exchange);
    assert.deepEqual(Object.keys(body), ['code', 'message', 'status'], exchange);
    return;
  }
  assert.equal(status, expected.status, exchange);
  assert.deepEqual(body, 'body' in expected ? expected.body : undefined, exchange);
}

function assertExpectedBatch(response: ApiResponse, expected: ExpectedBatch, exchange: string): void {
  const { status, headers, body } = response;
  if ('codes' in expected) {
    assertExpected(response, expected, exchange);
    assert.equal(headers['x-failed-operation'], String(expected.failed), exchange);
    assert.ok(body.message.startsWith(`Operation ${expected.failed}: `), exchange);
    return;
  }
  assert.equal(status, 200, exchange);
  assert.equal(body.results.length, expected.results.length, exchange);
  for (const [i, result] of expected.results.entries()) {
    const { status, body: resource, error } = body.results[i];
    assertExpected({ status, body: error ?? resource }, result, `result ${i} of ${exchange}`);
  }
}
