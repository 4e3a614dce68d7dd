import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { MINUTE } from '../../src/kit/clock.ts';
import type { LabelledRequest } from '../rules/shop-batch-model.ts';
import { randomSteps, type Step } from '../rules/shop-operations.ts';
import { bodyOf, finderIn, type Ids, kindOf, labelled, settled } from '../rules/shop-requests.ts';
import { pathOf } from '../rules/shop-shapes.ts';
import { eventsAfter, settledCursor } from '../support/event-log.ts';
import type { CloudEvent } from '../support/event-reader.ts';
import { shopState } from '../support/shop-state.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';

/** Number of random sequences: `MODEL_RUNS=100000 node --test …` searches longer. */
const RUNS = Number(process.env.MODEL_RUNS ?? 30);

/** Applies events to the resources, by subject. A pet is created and deleted together with its stock. */
function applyEvents(
  events: readonly CloudEvent[],
  resources: Map<string, { [field: string]: unknown }>,
): void {
  for (const { type, subject, data } of events) {
    const [collection, id] = subject.split('/');
    if (/\.(deleted|cancelled)$/.test(type)) {
      assert.deepEqual(data, resources.get(subject), `${type} does not contain the last state`);
      resources.delete(subject);
      if (collection === 'pets') resources.delete(`store/inventory/${id}`);
    } else {
      resources.set(subject, data);
      if (type === 'pet.created') {
        const quantity = data.status === 'sold' ? 0 : 1;
        resources.set(`store/inventory/${id}`, { petId: data.id, quantity, status: data.status });
      }
    }
  }
}

function listed(resources: Map<string, { [field: string]: unknown }>, collection: string): unknown[] {
  return [...resources]
    .filter(([subject]) => subject.startsWith(`${collection}/`))
    .map(([, data]) => data)
    .sort((a, b) => Number(a.id ?? a.petId) - Number(b.id ?? b.petId));
}

async function send({ api }: TestApp, step: Step, ids: Ids): Promise<void> {
  const idOf = finderIn(ids);
  if ('operations' in step) {
    const operations = labelled(step.operations, idOf);
    const { body } = await api.post('/batch', bodyOf({ atomic: step.atomic, operations }));
    for (const [i, result] of (body.results ?? []).entries()) noteId(ids, operations[i]!, result);
    return;
  }
  if (step.method === 'GET') return;
  const request = settled(step, idOf);
  const { method, resource, id, body } = request;
  noteId(ids, request, await api.send(method, pathOf(method, resource, id), { body }));
}

function noteId(
  ids: Ids,
  { resource }: LabelledRequest,
  { status, body }: { status: number; body?: { id: number } },
): void {
  if (status === 201) ids[kindOf(resource)].push(body!.id);
}

describe('the state of the shop', () => {
  it('can be rebuilt from the log alone, after any sequence of operations', async t => {
    const shop = await startTestApp(t);
    const resources = new Map<string, { [field: string]: unknown }>();
    let cursor = await settledCursor(shop);
    let eventCount = 0;
    const applyNewEvents = async () => {
      const end = await settledCursor(shop);
      const events = await eventsAfter(shop.api, cursor);
      applyEvents(events, resources);
      eventCount += events.length;
      cursor = end;
    };
    const property = fc.asyncProperty(randomSteps, async sequence => {
      shop.clock.advance(MINUTE);
      const ids: Ids = { categories: [], pets: [], orders: [] };
      for (const step of sequence) await send(shop, step, ids);
      await applyNewEvents();
      const state = await shopState(shop.api);
      assert.deepEqual(state, {
        '/categories': listed(resources, 'categories'),
        '/pets': listed(resources, 'pets'),
        '/store/inventory': listed(resources, 'store/inventory'),
        '/store/orders': listed(resources, 'store/orders'),
      });
      for (const id of await clear(shop, state)) resources.delete(`store/orders/${id}`);
      await applyNewEvents();
      assert.deepEqual([...resources], []);
    });
    await fc.assert(property, { numRuns: RUNS, endOnFailure: true });
    t.diagnostic(`${RUNS} sequences, ${eventCount} events`);
  });
});

/** Deletes everything through the API, and the completed orders, which cannot be deleted, by SQL. Returns their IDs. */
async function clear({ app, api }: TestApp, state: Record<string, unknown[]>): Promise<number[]> {
  const orders = state['/store/orders'] as { id: number; petId?: number; complete: boolean }[];
  for (const { id, petId, complete } of orders) {
    if (complete) continue;
    // Otherwise the returned units could exceed the limit of a stock.
    if (petId !== undefined) await api.put(`/store/inventory/${petId}`, { quantity: 0 });
    assert.equal((await api.delete(`/store/orders/${id}`)).status, 204);
  }
  for (const path of ['/pets', '/categories']) {
    for (const { id } of state[path] as { id: number }[]) {
      assert.equal((await api.delete(`${path}/${id}`)).status, 204);
    }
  }
  await app.db.run('DELETE FROM orders');
  return orders.filter(({ complete }) => complete).map(({ id }) => id);
}
