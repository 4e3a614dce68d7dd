import { BATCH_BODY_LIMIT } from '../../service/src/contract/request-limits.ts';
import { Random } from '../../service/test/support/random.ts';
import type { Access } from '../harness/shop.ts';
import { nameOfManyWords } from '../stores/names.ts';
import { type RawRequest, rawRequest } from './exchange.ts';

const OPERATIONS = 1_000;

/** A batch, and the status of its response. */
interface BatchRequest extends RawRequest {
  expected: number;
}

/** Batches of as many operations and bytes as possible. Each can be sent again. */
export function batchRequests({ apiKey, categoryId }: Access): BatchRequest[] {
  const batch = (name: string, expected: number, operation: (i: number) => object, atomic = true) => {
    const operations = Array.from({ length: OPERATIONS }, (_, i) => operation(i));
    const body = padded(JSON.stringify({ atomic, operations }));
    return { ...rawRequest('POST', '/batch', { apiKey, body }), name, expected };
  };
  const random = new Random(7);
  const text = 'x'.repeat(800);
  const name = 'n'.repeat(200);
  return [
    batch('pets', 200, i => ({
      method: 'POST',
      path: '/pets',
      body: { name: `${i} ${name}`.slice(0, 200), categoryId },
    })),
    batch('pets with names of 50 words', 200, () => ({
      method: 'POST',
      path: '/pets',
      body: { name: nameOfManyWords(random), categoryId },
    })),
    batch('changes of a category', 200, i => ({
      method: 'PATCH',
      path: `/categories/${categoryId}`,
      body: { description: `${i} ${text}` },
    })),
    batch('pets and their stock by label', 200, i =>
      i % 2 === 0
        ? { method: 'POST', path: '/pets', body: { name, categoryId }, label: `p${i}` }
        : { method: 'PUT', path: `/store/inventory/{p${i - 1}}`, body: { quantity: 3 } },
    ),
    batch(
      'invalid operations, not atomic',
      200,
      i => ({ method: 'POST', path: '/pets', body: { name: `${i} ${text}`, categoryId } }),
      false,
    ),
    batch(
      'rejected operations, not atomic',
      200,
      i => ({ method: 'PATCH', path: '/pets/4000000000', body: { name: `${i} ${name}`.slice(0, 200) } }),
      false,
    ),
    batch('a rollback of 999 operations', 409, i =>
      i === OPERATIONS - 1
        ? { method: 'POST', path: '/categories', body: { name: 'dogs' } }
        : { method: 'PATCH', path: `/categories/${categoryId}`, body: { description: `${i} ${text}` } },
    ),
    batch(
      'too many parts',
      400,
      i => ({
        method: 'POST',
        path: '/pets',
        body: Object.fromEntries(Array.from({ length: 78 }, (_, j) => [`f${i}_${j}`, 1])),
      }),
      false,
    ),
  ];
}

/** Adds spaces, so that the body is as long as a batch can be. */
function padded(json: string): string {
  if (json.length > BATCH_BODY_LIMIT) throw new Error(`A body of ${json.length} bytes`);
  return json.slice(0, -1).padEnd(BATCH_BODY_LIMIT - 1) + json.at(-1);
}
