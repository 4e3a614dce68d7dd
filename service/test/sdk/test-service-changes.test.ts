import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { SECOND } from '../../src/kit/clock.ts';
import { randomSteps } from '../rules/shop-operations.ts';
import { bodyOf, finderIn, type Ids, kindOf, labelled, settled } from '../rules/shop-requests.ts';
import { type ModelRequest, pathOf, type Resource } from '../rules/shop-shapes.ts';
import { importClient } from '../support/packed-client.ts';
import { servicePair } from '../support/service-pair.ts';

const { PetStore } = await importClient();

it('the test service responds as the service does to random changes, alone and in batches, and it then has the same resources and events', async t => {
  const both = await servicePair(t);
  const seen = new Set<string>();
  const ids: Ids = { categories: [], pets: [], orders: [] };
  /** Finds the last resources: earlier ones have been sold or deleted. */
  const find: ReturnType<typeof finderIn> = (kind, reference) =>
    finderIn({ ...ids, [kind]: ids[kind].slice(-5) })(kind, reference);
  const note = (
    { method, resource, id }: ModelRequest,
    { status, body }: { status: number; body?: unknown },
  ) => {
    if (method === 'POST' && id === undefined && status === 201)
      ids[kindOf(resource)].push((body as { id: number }).id);
  };
  for (const steps of fc.sample(randomSteps, { numRuns: 30, seed: 2_027 })) {
    for (const step of steps) {
      if ('operations' in step) {
        const operations = labelled(step.operations, find);
        const { status, body } = await both.send('POST', '/batch', bodyOf({ ...step, operations }));
        const { results = [] } = body as { results?: { status: number }[] };
        for (const [i, result] of results.entries()) note(operations[i]!, result);
        seen.add(`batch ${status}`);
      } else {
        const request = settled(step, find);
        const { method, resource, id, body, query, stale } = request;
        const path = `${pathOf(method, resource, id)}${query ? `?${new URLSearchParams(query)}` : ''}`;
        const response = await both.send(method, path, body, stale ? { 'if-match': '"stale"' } : {});
        note(request, response);
        const { code = '' } = (response.body ?? {}) as { code?: string };
        seen.add(`${response.status} ${code}`.trim());
      }
    }
    both.advance(SECOND);
  }
  // The changes were of all kinds.
  const wanted =
    '200, 201, 204, 400 invalid_request, 404 category_not_found, 404 order_not_found, 404 pet_not_found, 409 category_in_use, ' +
    '409 category_name_taken, 409 insufficient_stock, 409 invalid_status_transition, 409 order_already_complete, ' +
    '409 order_has_no_pet, 409 out_of_stock, 409 pet_has_open_orders, 409 pet_not_available, ' +
    '409 stock_limit_exceeded, 412 precondition_failed, 422 unknown_category, 422 unknown_pet, batch 200, batch 400, batch 404, batch 409, batch 412, batch 422';
  assert.deepEqual([...seen].toSorted(), wanted.split(', '));
  for (const path of ['/pets', '/categories', '/store/orders', '/store/inventory'])
    assert.ok((await both.pages(`${path}?limit=3`)) > 0);
  for (const [resource, all] of Object.entries({ ...ids, inventory: ids.pets }))
    for (const id of all) await both.send('GET', pathOf('GET', resource as Resource, id));
  const type = ['pet.*', 'category.*', 'order.*', 'inventory.*'];
  const [real, imitated] = await Promise.all(
    both.services.map(async ({ origin, key, fetch }) => {
      const { events } = new PetStore({ baseUrl: origin, apiKey: key, fetch });
      const all = await events.list({ type, limit: 100 }).toArray({ limit: 10_000 });
      return all.map(({ id: _, actor: __, requestid: ___, ...event }) => event);
    }),
  );
  assert.ok(real!.length > 200);
  assert.deepEqual(imitated, real);
});
