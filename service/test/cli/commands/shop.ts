import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import type { CommandRuns } from './runs.ts';

/** The commands for what the shop sells: each case continues with what the ones before have left. */
export function shopCommands({ json, one, shop, directory }: CommandRuns): void {
  let category: number;
  let pet: number;

  it('manages categories', async () => {
    const created = await one('categories', 'create', 'Ferrets', '--description', 'Playful');
    category = created.id;
    assert.deepEqual(created, { id: category, name: 'Ferrets', description: 'Playful' });
    assert.deepEqual(await json('categories', 'list', '--name', 'fer'), [created]);
    assert.deepEqual(await one('categories', 'update', `${category}`, '--description', ''), {
      id: category,
      name: 'Ferrets',
    });
    assert.deepEqual(await one('categories', 'get', `${category}`), { id: category, name: 'Ferrets' });
    const { id } = await one('categories', 'create', 'Empty');
    assert.deepEqual(await json('categories', 'delete', `${id}`), [{ id, outcome: 'deleted' }]);
  });

  it('manages pets', async () => {
    const created = await one('pets', 'create', 'Bandit', '--category', `${category}`);
    pet = created.id;
    assert.deepEqual(created, { id: pet, name: 'Bandit', categoryId: category, status: 'available' });
    const other = await one('pets', 'create', 'Éclair', '--category', `${category}`, '--status', 'sold');
    assert.deepEqual(await json('pets', 'list', '--status', 'sold', '--status', 'pending'), [other]);
    assert.deepEqual(await json('pets', 'list', '--sort', '-id', '--category', `${category}`), [
      other,
      created,
    ]);
    assert.deepEqual(await json('pets', 'search', 'ecl'), [other]);
    assert.deepEqual(await json('pets', 'get', `${other.id}`, `${pet}`), [other, created]);
    assert.deepEqual(await one('pets', 'update', `${pet}`, '--name', 'Rex'), { ...created, name: 'Rex' });
    assert.deepEqual(await json('pets', 'delete', `${other.id}`), [{ id: other.id, outcome: 'deleted' }]);
  });

  it('manages stock', async () => {
    const entry = { petId: pet, quantity: 5, status: 'available' };
    assert.deepEqual(await one('stock', 'update', `${pet}`, '5'), entry);
    const why = ['--reason', 'damaged', '--note', 'The cage door broke'];
    assert.deepEqual(await one('stock', 'adjust', `${pet}`, '-2', ...why), { ...entry, quantity: 3 });
    await shop.app.db.numberEvents();
    const changes = (await shop.api.get(`/history?subject=store/inventory/${pet}&limit=1`)).body;
    assert.deepEqual([changes[0].reason, changes[0].note], [why[1], why[3]]);
    assert.deepEqual(await one('stock', 'adjust', `${pet}`, '+2'), entry);
    assert.deepEqual(await json('stock', 'list', '--below', '6'), [entry]);
    assert.deepEqual(await json('stock', 'get', `${pet}`), [entry]);
  });

  it('manages orders', async () => {
    const placed = await one('orders', 'create', `${pet}`, '--quantity', '2');
    assert.deepEqual(placed, { id: placed.id, petId: pet, quantity: 2, complete: false });
    const draft = await one('orders', 'create', '--ship-date', '2099-01-31T12:00:00Z');
    assert.deepEqual(await json('orders', 'list', '--ship-since', 'today'), [draft]);
    assert.deepEqual(await json('orders', 'list', '--ship-until', 'today'), []);
    const twice = ['orders', 'create', `${pet}`, '--complete', '--idempotency-key', 'once'];
    const sold = await one(...twice);
    assert.equal(sold.complete, true);
    assert.deepEqual(await one(...twice), sold);
    assert.deepEqual(await one('orders', 'update', `${placed.id}`, '--quantity', '1'), {
      ...placed,
      quantity: 1,
    });
    assert.equal((await json('orders', 'list', '--complete', 'false')).length, 2);
    const [completed] = await json('orders', 'complete', `${placed.id}`);
    assert.equal(completed!.complete, true);
    assert.deepEqual(await json('orders', 'get', `${placed.id}`), [completed]);
    assert.deepEqual(await json('orders', 'delete', `${draft.id}`), [{ id: draft.id, outcome: 'cancelled' }]);
  });

  it('imports and exports', async () => {
    const file = join(directory, 'pets.jsonl');
    const rows = [
      { name: 'Kaa', category: 'Snakes', quantity: 3 },
      { name: 'Nagini', category: 'Snakes', status: 'sold' },
    ];
    writeFileSync(file, rows.map(row => JSON.stringify(row)).join('\n'));
    const { created, rejected } = await one('import', file, '--create-categories', '--skip-existing');
    assert.deepEqual([created, rejected], [2, 0]);
    const [exported] = (await json('export', 'pets', '--stock', '--status', 'available')).toReversed();
    const { name, category, quantity } = exported!;
    assert.deepEqual([name, category, quantity], ['Kaa', 'Snakes', 3]);
    assert.equal((await json('export', 'orders')).length, 2);
    assert.equal((await json('export', 'categories')).length, 2);
    assert.equal((await json('export', 'stock')).length, 3);
  });
}
