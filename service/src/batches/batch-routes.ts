import { ApiError } from '../contract/errors.ts';
import { BATCH_BODY_LIMIT } from '../contract/request-limits.ts';
import { rejectWithoutScope } from '../http/gate/scope-check.ts';
import { inBinaryUnit } from '../kit/quantities.ts';
import { Slices } from '../kit/slices.ts';
import type { Caller } from '../routes/context.ts';
import { defineRoute, type Route } from '../routes/define-route.ts';
import { reply } from '../routes/reply.ts';
import { Batch, BatchBody, type BatchOperation, BatchResults, MAX_OPERATIONS } from './batch.ts';
import { OperationTable } from './operation-table.ts';
import { planOf } from './plan.ts';
import { failureOf, lockAll, runAtomically, runEach } from './run.ts';

/** How long a batch may block the event loop at a time, in milliseconds, in addition to one operation. */
const SLICE = 8;

const HERE = { method: 'POST', path: '/batch' } as const;

/**
 * The batch operation. A batch can contain the writes among the `shop`'s operations that are not deprecated. Messages about other
 * operations depend on whether they exist.
 */
export function batchRoutes(shop: readonly Route[], others: readonly Route[]): Route[] {
  const canBePart = ({ method, deprecation }: Route) => method !== 'GET' && !deprecation;
  const operations = shop.filter(canBePart);
  const table = new OperationTable(operations, [...shop.filter(route => !canBePart(route)), ...others, HERE]);
  const errors = new Set(operations.flatMap(route => route.errors));
  return [
    defineRoute({
      ...HERE,
      operationId: 'runBatch',
      tag: 'Batches',
      summary: 'Make several changes in one request',
      description: [
        `Executes up to ${MAX_OPERATIONS} operations on pets, categories, orders and stock in their order, in one transaction. The ` +
          'body can have up to ' +
          `${inBinaryUnit(BATCH_BODY_LIMIT)}. Each operation has the rules, the scope and the result that it has as a single request.`,
        'A `label` names the resource that an operation creates. Later operations use it instead of the ID: `{"$label": "rex"}` in ' +
          'a field of the body, and `/store/inventory/{rex}` in a path.',
        '**Atomic** (the default): if an operation fails, nothing is changed, and the response is the error of the first operation ' +
          'that failed. Its message begins with the index of the operation, counted from 0 (`Operation 17: …`), which is also in the ' +
          'header `X-Failed-Operation`. What does not depend on stored data is checked for all operations before the first is ' +
          'executed.',
        '**With `atomic: false`** each operation succeeds or fails by itself, and the results of failed operations have the ' +
          'error. An operation with the label of a failed operation fails as well.',
        'A batch of *n* operations counts as *n* requests against the rate limits. They are admitted or rejected together.',
        'An `Idempotency-Key` covers the whole batch.',
      ].join('\n\n'),
      scope: 'any',
      stability: 'experimental',
      body: BatchBody,
      bodyLimit: BATCH_BODY_LIMIT,
      publishedBody: [Batch],
      success: { status: 200, description: 'The result of each operation.', schema: BatchResults },
      errors: [...errors, 'precondition_failed'],
      errorHeader: 'X-Failed-Operation',
      writesAlone: true,
      cost: ({ operations }) => operations.length,
      handler: async context => {
        const { body, caller, db } = context;
        const slices = new Slices(SLICE);
        const plan = await planOf(body.operations, table, caller, slices);
        const run = body.atomic ? runAtomically : runEach;
        const results = await db.write(async tx => {
          await lockAll(plan, tx);
          return run(plan, { context, tx, slices });
        });
        return reply.resource({ results });
      },
      rejectReplay: ({ body, caller }, outcome) => {
        const { results } = outcome as BatchResults;
        for (const [index, operation] of body.operations.entries()) {
          if (results[index]!.status < 400)
            rejectLostScope(index, operation as BatchOperation, table, caller);
        }
      },
    }),
  ];
}

/** Throws `insufficient_scope` if the caller no longer has the scope of an operation that was executed. */
function rejectLostScope(
  index: number,
  { method, path }: BatchOperation,
  table: OperationTable,
  caller: Caller,
): void {
  try {
    rejectWithoutScope(table.find(method, path).route, caller);
  } catch (error) {
    throw error instanceof ApiError ? failureOf(index, error) : error;
  }
}
