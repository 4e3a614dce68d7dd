import assert from 'node:assert/strict';
import { MINUTE } from '../../src/kit/clock.ts';
import { assertMatchesContract } from '../support/contract.ts';
import { assertInvariants } from '../support/invariants.ts';
import type { TestApp } from '../support/test-app.ts';
import { type Expected, type ModelRequest, ShopModel } from './shop-model.ts';
import type { Operation } from './shop-operations.ts';
import { pathOf, type Resource, rejectionStatus } from './shop-shapes.ts';

interface ApiResponse {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: bodies of every shape
  body: any;
}

/** The service and its model: both take every step. */
export class ShopUnderTest {
  readonly #test: TestApp;
  #model = new ShopModel();
  /** The error codes returned so far. */
  readonly rejections = new Set<string>();
  /** The IDs assigned so far, by resource. */
  #ids: Record<'categories' | 'pets' | 'orders', number[]> = { categories: [], pets: [], orders: [] };

  constructor(test: TestApp) {
    this.#test = test;
  }

  /** Empties the shop and advances the clock by a minute, because limits are per minute. */
  async empty(): Promise<void> {
    const { app, clock } = this.#test;
    await app.db.write(tx =>
      Promise.all(['orders', 'pets', 'categories', 'events'].map(table => tx.run(`DELETE FROM ${table}`))),
    );
    clock.advance(MINUTE);
    this.#model = new ShopModel();
    this.#ids = { categories: [], pets: [], orders: [] };
  }

  async step(operation: Operation): Promise<void> {
    const request = this.#settled(operation);
    const response = await this.#send(request);
    const exchange = `${JSON.stringify(request)} → ${response.status} ${JSON.stringify(response.body)}`;
    const newId = this.#noteNewId(request, response);
    const expected = this.#model.respond(request, this.#test.clock.now(), newId);
    assertExpected(response, expected, exchange);
    if ('codes' in expected) this.rejections.add(response.body.code);
    await this.#assertSameState(exchange);
  }

  /** The request of an operation, with the IDs that exist by now. */
  #settled({ method, resource, target, body, query, stale }: Operation): ModelRequest {
    const kind = resource === 'inventory' ? 'pets' : resource;
    const id = typeof target === 'number' ? String(this.#idOf(kind, target)) : target;
    const settle = (fields: object) =>
      Object.fromEntries(
        Object.entries(fields).map(([field, value]) => [field, this.#settledValue(value, Number(id))]),
      );
    return {
      method,
      resource,
      ...(id !== undefined && { id }),
      ...(body && { body: settle(body) }),
      ...(query && {
        query: Object.fromEntries(
          Object.entries(settle(query)).map(([name, value]) => [name, String(value)]),
        ),
      }),
      ...(stale && { stale }),
    };
  }

  #settledValue(value: unknown, ownId: number): unknown {
    if (typeof value !== 'object' || value === null) return value;
    if ('pet' in value) return this.#idOf('pets', value.pet as number);
    if ('category' in value) return this.#idOf('categories', value.category as number);
    return ownId;
  }

  #idOf(kind: Exclude<Resource, 'inventory'>, reference: number): number {
    const ids = this.#ids[kind];
    return reference === 0 || ids.length === 0 ? 4_000_000_000 : ids[(reference - 1) % ids.length]!;
  }

  async #send({ method, resource, id, body, query, stale }: ModelRequest): Promise<ApiResponse> {
    const search = new URLSearchParams({ limit: '100', ...query });
    const path = pathOf(method, resource, id);
    const url = method === 'GET' && id === undefined ? `${path}?${search}` : path;
    const response = await this.#test.app.server.inject({
      method,
      url,
      headers: {
        'x-api-key': this.#test.adminKey,
        ...(body && { 'content-type': 'application/json' }),
        ...(stale && { 'if-match': '"stale"' }),
      },
      ...(body && { payload: JSON.stringify(body) }),
    });
    const { statusCode: status, payload: text } = response;
    const headers = response.headers as Record<string, string>;
    assertMatchesContract({ method, path: url, status, headers, text });
    return { status, body: text === '' ? undefined : JSON.parse(text) };
  }

  /** Checks that the service never assigned this ID before. */
  #noteNewId({ method, resource }: ModelRequest, { status, body }: ApiResponse): number {
    if (method !== 'POST' || status !== 201 || resource === 'inventory') return Number.NaN;
    const ids = this.#ids[resource];
    assert.ok(body.id > (ids.at(-1) ?? 0), `ID ${body.id} after ${ids.at(-1)}`);
    ids.push(body.id);
    return body.id;
  }

  /** Checks that the store matches the model and breaks none of its own rules. */
  async #assertSameState(exchange: string): Promise<void> {
    const { db } = this.#test.app;
    // All at once, which is one round trip to a server.
    const [pets, orders] = await Promise.all([
      db.all('SELECT id, category_id, status, quantity FROM pets ORDER BY id'),
      db.all('SELECT id, pet_id, quantity, complete FROM orders ORDER BY id'),
      assertInvariants(sql => db.all(sql)),
    ]);
    assert.deepEqual(
      pets,
      [...this.#model.pets].map(([id, { categoryId, status, quantity }]) => ({
        id,
        category_id: categoryId,
        status,
        quantity,
      })),
      exchange,
    );
    assert.deepEqual(
      orders,
      [...this.#model.orders].map(([id, { petId, quantity, complete }]) => ({
        id,
        pet_id: petId ?? null,
        quantity,
        complete: complete ? 1 : 0,
      })),
      exchange,
    );
  }
}

function assertExpected({ status, body }: ApiResponse, expected: Expected, exchange: string): void {
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
