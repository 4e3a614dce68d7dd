import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Session } from '../app/session.ts';
import { readFacts } from './facts.ts';

it('the facts of many animals are read of each of them, 100 with a request', async () => {
  const sizes: number[] = [];
  const store = {
    inventory: {
      async *list({ petId }: { petId: readonly number[] }) {
        sizes.push(petId.length);
        for (const id of petId) yield { petId: id, quantity: id };
      },
    },
    orders: {
      async *list({ petId }: { petId: readonly number[] }) {
        for (const id of petId) if (id % 2 === 0) yield { petId: id };
      },
    },
  };
  const ids = Array.from({ length: 230 }, (_, i) => i + 1);
  const facts = await readFacts({ store, can: () => true } as unknown as Session, ids);
  assert.deepEqual(
    [...facts],
    ids.map(id => [id, { stock: id, hasOpenOrders: id % 2 === 0 }]),
  );
  assert.deepEqual(sizes, [100, 100, 30]);
});
