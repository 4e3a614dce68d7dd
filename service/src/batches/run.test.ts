import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TurnCounter } from '../../test/support/turn-counter.ts';
import { ApiError } from '../contract/errors.ts';
import { DatabaseUnavailable, type Transaction } from '../db/database.ts';
import { Slices } from '../kit/slices.ts';
import type { Caller, Context } from '../routes/context.ts';
import { defineRoute, type Route } from '../routes/define-route.ts';
import { reply } from '../routes/reply.ts';
import { OperationTable } from './operation-table.ts';
import { planOf, type Step } from './plan.ts';
import { lockAll, runAtomically, runEach } from './run.ts';

const OPERATIONS = 20;

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

/** What the operations of a batch share. */
const shared = () => ({
  context: { part: () => ({}) } as unknown as Pick<Context<object, object, object>, 'part'>,
  tx: { savepoint: (part: () => Promise<unknown>) => part() } as unknown as Transaction,
  slices: shortest(),
});

describe('a batch', () => {
  const plan = Array.from({ length: OPERATIONS }, () => stepOf(nothing));
  const sent = plan.map(() => ({ method: 'POST', path: '/nothing' }));
  const caller: Caller = {
    keyId: 1,
    kind: 'secret',
    scopes: new Set(['admin']),
    origins: null,
    networks: null,
  };
  const table = new OperationTable([nothing], []);
  const errors = plan.map(() => new ApiError('invalid_request', 'Wrong'));

  const tasks: [string, () => Promise<unknown>][] = [
    ['checks them', () => planOf(sent, table, caller, shortest())],
    ['executes them together', () => runAtomically(plan, shared())],
    ['executes them one by one', () => runEach(plan, shared())],
    ['collects the errors of those that it cannot execute', () => runEach(errors, shared())],
  ];
  for (const [what, task] of tasks) {
    it(`serves other requests between its operations while it ${what}`, async () => {
      using turns = new TurnCounter();
      await task();
      assert.ok(turns.count >= OPERATIONS - 1, `${turns.count} turns`);
    });
  }

  it('takes the locks of its operations, except those of resources that it creates itself', async () => {
    const locks = ({ params }: { params: object }) => Object.values(params).map(id => `pet ${id}`);
    const lockedStep = (petId: number, more: Partial<Step> = {}): Step => ({
      ...stepOf({ ...nothing, locks }),
      params: { petId },
      ...more,
    });
    const labelled = (part: 'params' | 'body', name: string) => ({
      references: [{ in: part, name, label: 'a', owner: 0 }],
    });
    const locked: string[] = [];
    const tx = { lock: async (...names: string[]) => void locked.push(...names) } as unknown as Transaction;
    const steps = [
      stepOf(nothing),
      lockedStep(1, labelled('params', 'petId')),
      lockedStep(1, labelled('body', 'petId')),
      lockedStep(7),
      lockedStep(8, labelled('body', 'categoryId')),
    ];
    await lockAll(steps, tx);
    assert.deepEqual(locked, ['pet 7', 'pet 8']);
  });

  it('fails as a whole when the store or the service fails in its middle', async () => {
    for (const failure of [new DatabaseUnavailable(undefined, 'busy'), new TypeError('a fault')]) {
      for (const run of [runAtomically, runEach]) {
        const running = run([stepOf(nothing), failing(failure), stepOf(nothing)], shared());
        await assert.rejects(running, thrown => thrown === failure);
      }
    }
  });

  it('that is atomic has the headers and the index of the error', async () => {
    const error = new ApiError('insufficient_stock', 'Too few', { 'retry-after': '7' });
    await assert.rejects(runAtomically([stepOf(nothing), failing(error)], shared()), {
      message: 'Operation 1: Too few',
      headers: { 'retry-after': '7', 'x-failed-operation': '1' },
    });
  });
});
