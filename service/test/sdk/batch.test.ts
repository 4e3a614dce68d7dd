import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MAX_OPERATIONS } from '../../src/batches/batch.ts';
import { importClient } from '../support/packed-client.ts';
import { useShop } from '../support/use-shop.ts';
import { valuesOf } from '../support/values.ts';

const { ConflictError, PetStore, PetStoreError, ValidationError } = await importClient();
type Store = InstanceType<typeof PetStore>;

const shop = useShop({ alone: false });
let names = 0;

/** A client, and a name for a category that no other test uses. */
function start() {
  return {
    store: new PetStore({ baseUrl: shop.origin, apiKey: shop.adminKey }),
    category: `Dogs ${++names}`,
  };
}

async function petsOf(store: Store, categoryId: number): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of store.pets.list({ categoryId })) names.push(name);
  return names;
}

describe('a batch of the client', () => {
  it('runs its operations in one request, with operations and labels instead of IDs', async () => {
    const { store, category } = start();
    const batch = store.batch();
    const dogs = batch.categories.create({ name: category });
    const rex = batch.pets.create({ name: 'Rex', categoryId: dogs }, { label: 'rex' });
    const stock = batch.inventory.set(rex, { quantity: 3 });
    const order = batch.orders.create({ petId: { $label: 'rex' }, quantity: 2 });
    const left = batch.inventory.adjust({ $label: 'rex' }, { delta: -1 });
    const cancelled = batch.orders.cancel(order);
    const before = shop.logLines().length;
    const results = await batch.run();
    const requests = shop.logLines().slice(before);
    assert.deepEqual(valuesOf(requests, 'route'), ['/batch']);
    const { id } = results.get(rex);
    assert.deepEqual(results.get(rex), {
      id,
      name: 'Rex',
      categoryId: results.get(dogs).id,
      status: 'available',
    });
    assert.equal(results.get(stock).quantity, 3);
    assert.equal(results.get(order).petId, id);
    assert.equal(results.get(left).status, 'pending');
    assert.equal(results.get(cancelled), undefined);
    assert.deepEqual(valuesOf(results.all, 'status'), [201, 201, 200, 201, 200, 204]);
    assert.deepEqual(results.errors, []);
    assert.equal(results.isReplayed, false);
    assert.equal((await store.inventory.get(id!)).quantity, 2);
  });

  it('has a method for each operation that the service accepts in a batch, and no other', async () => {
    const { store } = start();
    const batch = store.batch();
    const entries = Object.entries(batch).flatMap(([group, methods]) =>
      Object.entries(group === 'run' ? {} : methods).map(([name, method]) =>
        (method as (...values: unknown[]) => { operation: string })(
          ...(name === 'create' ? [{ name: 'Rex' }] : [1, {}]),
        ),
      ),
    );
    const forbidden = { operations: [{ method: 'POST', path: '/keys', body: {} } as const] };
    const { message } = await store.batches.create(forbidden).then(
      () => assert.fail('an error was expected'),
      error => error,
    );
    const [, allowed = ''] = /Allowed are (.*)$/.exec(message)!;
    const expected = allowed.split('; ').flatMap(at => {
      const [path, ...names] = at.replaceAll(',', '').split(' ').toReversed();
      return names.map(method => `${method} ${path}`);
    });
    const operations = entries.map(({ operation }) => operation);
    assert.deepEqual(operations.toSorted(), expected.toSorted());
  });

  it('changes nothing if an operation fails, and throws its error with its place', async () => {
    const { store, category } = start();
    const { id: categoryId } = await store.categories.create({ name: category });
    const batch = store.batch();
    batch.pets.create({ name: 'Rex', categoryId: categoryId! });
    batch.categories.create({ name: category.toLowerCase() });
    await assert.rejects(batch.run(), error => {
      assert.ok(error instanceof ConflictError);
      assert.deepEqual([error.code, error.status, error.failedOperation], ['category_name_taken', 409, 1]);
      return true;
    });
    assert.deepEqual(await petsOf(store, categoryId!), []);
    const operations = [{ method: 'DELETE' as const, path: '/pets/9000000' }];
    await assert.rejects(store.batches.create({ operations }), { failedOperation: 0 });
    await assert.rejects(store.pets.delete(9_000_000), { failedOperation: undefined });
  });

  it('with atomic: false has the errors of the operations that failed', async () => {
    const { store, category } = start();
    const batch = store.batch({ atomic: false });
    const dogs = batch.categories.create({ name: category });
    const twice = batch.categories.create({ name: category });
    const rex = batch.pets.create({ name: 'Rex', categoryId: twice });
    const max = batch.pets.create({ name: 'Max', categoryId: dogs });
    const results = await batch.run();
    assert.equal(results.get(max).name, 'Max');
    assert.throws(() => results.get(twice), ConflictError);
    assert.throws(() => results.get(rex), ValidationError);
    assert.deepEqual(
      results.errors.map(({ failedOperation, code, requestId }) => [failedOperation, code, typeof requestId]),
      [
        [1, 'category_name_taken', 'string'],
        [2, 'invalid_request', 'string'],
      ],
    );
    assert.deepEqual(await petsOf(store, results.get(dogs).id!), ['Max']);
  });

  it('changes a resource only if it still has the ETag in ifMatch', async () => {
    const { store, category } = start();
    const { data, etag } = await store.categories.create({ name: category }).withResponse();
    await store.categories.update(data.id!, { description: 'Hounds' });
    const batch = store.batch();
    batch.categories.update(data.id!, { description: 'Cats' }, { ifMatch: etag });
    await assert.rejects(batch.run(), { code: 'precondition_failed', failedOperation: 0 });
  });

  it('is executed once, although it is run again after its connection broke', async () => {
    const { category } = start();
    let isBroken = true;
    const store = new PetStore({
      baseUrl: shop.origin,
      apiKey: shop.adminKey,
      maxRetries: 0,
      fetch: async (url, init) => {
        const response = await fetch(url, init);
        if (!isBroken) return response;
        isBroken = false;
        throw new TypeError('The connection broke');
      },
    });
    const batch = store.batch();
    const dogs = batch.categories.create({ name: category });
    await assert.rejects(batch.run(), /The connection broke/);
    const results = await batch.run();
    assert.equal(results.get(dogs).name, category);
    assert.equal(results.isReplayed, true);
  });

  it('rejects one operation too many, and operations of another batch', async () => {
    const { store } = start();
    const batch = store.batch();
    const first = batch.categories.create({ name: 'Category' });
    for (let i = 1; i < MAX_OPERATIONS; i++) batch.categories.create({ name: `Category ${i}` });
    assert.throws(
      () => batch.pets.delete(1),
      /^PetStoreError: A batch has at most 1000 operations: run this one/,
    );
    const results = await batch.run();
    assert.equal(results.all.length, MAX_OPERATIONS);
    const other = store.batch();
    assert.throws(() => other.pets.create({ name: 'Rex', categoryId: first }), PetStoreError);
    assert.throws(() => results.get(other.pets.delete(1)), PetStoreError);
  });
});

/** Is not called: the compiler checks it. */
export function mistakes(store: Store): void {
  const batch = store.batch();
  const dogs = batch.categories.create({ name: 'Dogs' });
  const rex = batch.pets.create({ name: 'Rex', categoryId: dogs });
  // @ts-expect-error: a list cannot be part of a batch
  batch.pets.list();
  // @ts-expect-error: nor can keys
  batch.keys.create({ name: 'Key', plan: 'free', scopes: [] });
  // @ts-expect-error: the stock of a category
  batch.inventory.set(dogs, { quantity: 1 });
  // @ts-expect-error: a pet as a category
  batch.pets.update(1, { categoryId: rex });
  // @ts-expect-error: a mistyped field
  batch.pets.create({ name: 'Rex', categroyId: dogs });
  // @ts-expect-error: an update creates nothing that a label could name
  batch.pets.update(rex, { name: 'Max' }, { label: 'max' });
  // @ts-expect-error: what is created has no earlier version
  batch.pets.create({ name: 'Rex', categoryId: 1 }, { ifMatch: '"1"' });
  // @ts-expect-error: the name of a result
  void batch.run().then(results => results.get(rex).nmae);
}
