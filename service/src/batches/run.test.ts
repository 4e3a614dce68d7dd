import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiError } from '../contract/errors.ts';
import { DatabaseUnavailable, type Transaction } from '../db/database.ts';
import { Slices } from '../kit/slices.ts';
import type { Context } from '../routes/context.ts';
import { defineRoute, type Route } from '../routes/define-route.ts';
import { reply } from '../routes/reply.ts';
import { OperationTable } from './operation-table.ts';
import { planOf, type Step } from './plan.ts';
import { runAtomically, runEach } from './run.ts';

const OPERATIONS = 20;

/** Runs a task. Returns the number of turns of the event loop that it took. */
async function turnsOf(task: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let waiting = setImmediate(function next() {
    turns++;
    waiting = setImmediate(next);
  });
  try {
    await task();
    return turns;
  } finally {
    clearImmediate(waiting);
  }
}

/** Slices that end after every step. */
const shortest = () => new Slices(-1);

const nothing = defineRoute({
  method: 'POST',
  path: '/nothing',
  operationId: 'doNothing',
  tag: 'Animals',
  summary: 'Do nothing',
  description: 'Changes nothing.',
  scope: 'pets:write',
  success: { status: 200, description: 'Nothing.', schema: { type: 'object' } },
  errors: [],
  handler: async () => reply.resource({}),
});

function stepOf(route: Route): Step {
  return { route, references: [], createdId: undefined, ifMatch: undefined, texts: {}, params: {}, body: {} };
}

/** An operation that throws. */
function failing(error: Error): Step {
  return stepOf({
    ...nothing,
    handler: async () => {
      throw error;
    },
  });
}

const context = { part: () => ({}) } as unknown as Pick<Context<object, object, object>, 'part'>;
const tx = { savepoint: (part: () => Promise<unknown>) => part() } as unknown as Transaction;

describe('a batch serves other requests between its operations', () => {
  it('while it checks them', async () => {
    const sent = Array.from({ length: OPERATIONS }, () => ({ method: 'POST', path: '/nothing' }));
    const caller = { keyId: 1, scopes: new Set(['admin'] as const), origins: null };
    const table = new OperationTable([nothing], []);
    const turns = await turnsOf(() => planOf(sent, table, caller, shortest()));
    assert.ok(turns >= OPERATIONS - 1, `${turns} turns`);
  });

  for (const run of [runAtomically, runEach]) {
    it(`while it executes them: ${run.name}`, async () => {
      const plan = Array.from({ length: OPERATIONS }, () => stepOf(nothing));
      const turns = await turnsOf(() => run(plan, context, tx, shortest()));
      assert.ok(turns >= OPERATIONS - 1, `${turns} turns`);
    });
  }

  it('while it collects the errors of those that it cannot execute', async () => {
    const plan = Array.from({ length: OPERATIONS }, () => new ApiError('invalid_request', 'Wrong'));
    const turns = await turnsOf(() => runEach(plan, context, tx, shortest()));
    assert.ok(turns >= OPERATIONS - 1, `${turns} turns`);
  });
});

describe('a failure of the store or of the service in the middle of a batch', () => {
  for (const failure of [new DatabaseUnavailable(undefined, 'busy'), new TypeError('a fault')]) {
    for (const run of [runAtomically, runEach]) {
      it(`fails the whole batch as it is: ${failure.name}, ${run.name}`, async () => {
        const plan = [stepOf(nothing), failing(failure), stepOf(nothing)];
        await assert.rejects(run(plan, context, tx, shortest()), thrown => thrown === failure);
      });
    }
  }
});

describe('the error of an operation', () => {
  it('has its headers and its index in an atomic batch', async () => {
    const error = new ApiError('insufficient_stock', 'Too few', { 'retry-after': '7' });
    await assert.rejects(runAtomically([stepOf(nothing), failing(error)], context, tx, shortest()), {
      message: 'Operation 1: Too few',
      headers: { 'retry-after': '7', 'x-failed-operation': '1' },
    });
  });
});
