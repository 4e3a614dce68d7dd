import { ApiError } from '../contract/errors.ts';
import type { Transaction } from '../db/database.ts';
import { withIdsAsSent } from '../http/quoting.ts';
import { errorBody } from '../http/respond.ts';
import { rejectOtherId } from '../http/route-input.ts';
import type { Slices } from '../kit/slices.ts';
import { etagOf } from '../routes/conditional.ts';
import type { Context } from '../routes/context.ts';
import type { AnyContext } from '../routes/define-route.ts';
import type { Reply } from '../routes/reply.ts';
import type { BatchResult } from './batch.ts';
import { invalid } from './labels.ts';
import type { Plan, Step } from './plan.ts';

/** What the operations of a batch share. */
interface BatchRun {
  context: Pick<Context<object, object, object>, 'part'>;
  tx: Transaction;
  slices: Slices;
}

/** The outcome of an operation: its result, and the ID of the resource that it created. */
interface Outcome {
  result: BatchResult;
  createdId?: number | undefined;
}

/**
 * Takes the locks of all operations that follow from their input, except those of resources that the batch itself creates. They are
 * taken in one order, so that two batches with the same resources do not deadlock.
 */
export async function lockAll(plan: Plan, tx: Transaction): Promise<void> {
  const names = plan.flatMap(step => (step instanceof ApiError || locksCreated(step) ? [] : locksOf(step)));
  if (names.length > 0) await tx.lock(...new Set(names));
}

/** Whether an operation locks a resource that the batch itself creates. The new category of a pet is not locked. */
function locksCreated({ references }: Step): boolean {
  return references.some(({ in: part, name }) => part === 'params' || name === 'petId');
}

/** The values have passed the schemas of the route. */
function locksOf({ route, params, body }: Step): readonly string[] {
  return route.locks?.({ params, body } as { params: never; body: never }) ?? [];
}

/** Executes all operations. The first failure is thrown, with the index of the operation in its message and a header. */
export async function runAtomically(plan: Plan, run: BatchRun): Promise<BatchResult[]> {
  const broken = plan.findIndex(step => step instanceof ApiError);
  if (broken >= 0) throw failureOf(broken, plan[broken] as ApiError);
  const outcomes: Outcome[] = [];
  for (const [index, step] of (plan as readonly Step[]).entries()) {
    try {
      outcomes.push(await execute(step, outcomes, run));
    } catch (error) {
      throw error instanceof ApiError ? failureOf(index, asSent(error, step, outcomes)) : error;
    }
    await run.slices.next();
  }
  return outcomes.map(({ result }) => result);
}

/** Executes each operation by itself. Results of operations that failed have the error. */
export async function runEach(plan: Plan, run: BatchRun): Promise<BatchResult[]> {
  const outcomes: Outcome[] = [];
  for (const step of plan) {
    outcomes.push(step instanceof ApiError ? failed(step) : await attempt(step, outcomes, run));
    await run.slices.next();
  }
  return outcomes.map(({ result }) => result);
}

async function attempt(step: Step, earlier: readonly Outcome[], run: BatchRun): Promise<Outcome> {
  try {
    return await run.tx.savepoint(() => execute(step, earlier, run));
  } catch (error) {
    // Other errors are failures of the store or of the service, and fail the whole batch.
    if (error instanceof ApiError) return failed(asSent(error, step, earlier));
    throw error;
  }
}

async function execute(step: Step, earlier: readonly Outcome[], { context, tx }: BatchRun): Promise<Outcome> {
  const { route, params, body, ifMatch } = withIds(step, earlier);
  const headers = ifMatch === undefined ? {} : { 'if-match': ifMatch };
  // The schemas that the values passed have the types of the handler.
  const reply = await route.handler(context.part(params, body, headers, tx) as AnyContext);
  return outcomeOf(reply);
}

/** Returns a step with the IDs of the labelled resources. */
function withIds(step: Step, earlier: readonly Outcome[]): Step {
  if (step.references.length === 0) return step;
  const values = { params: { ...step.params }, body: { ...step.body } };
  for (const { in: part, name, label, owner } of step.references) {
    const id = earlier[owner]?.createdId;
    if (id === undefined)
      throw invalid(
        `Operation ${owner}, which has the label \`${label}\`, failed, so that there is no resource to use`,
      );
    Object.assign(values[part], { [name]: id });
  }
  rejectOtherId(step.route, values);
  return { ...step, ...values };
}

function outcomeOf(reply: Reply): Outcome {
  switch (reply.kind) {
    case 'created': {
      const { body, location } = reply;
      const result = { status: 201, etag: etagOf(JSON.stringify(body)), location, body };
      return { result, createdId: (body as { id?: number }).id };
    }
    case 'resource':
      return { result: { status: 200, etag: etagOf(JSON.stringify(reply.body)), body: reply.body } };
    case 'empty':
      return { result: { status: 204 } };
    default:
      throw new Error(`An operation of a batch cannot return a ${reply.kind}`);
  }
}

function failed({ code, message }: ApiError): Outcome {
  const error = errorBody(code, message);
  return { result: { status: error.status, error } };
}

export function failureOf(index: number, { code, message, headers }: ApiError): ApiError {
  return new ApiError(code, `Operation ${index}: ${message}`, {
    ...headers,
    'x-failed-operation': String(index),
  });
}

/** Returns an error with IDs as they were sent, and with the labels of IDs that the client has not seen. */
function asSent(
  { code, message, headers }: ApiError,
  { texts, references }: Step,
  earlier: readonly Outcome[],
): ApiError {
  const labels = references
    .map(({ label, owner }) => ({ label, id: earlier[owner]?.createdId }))
    .filter(({ id }) => id !== undefined && new RegExp(`\\b${id}\\b`).test(message))
    .map(({ label, id }) => `\`${label}\` was ${id}`);
  const explanation = labels.length > 0 ? ` (${[...new Set(labels)].join(', ')})` : '';
  return new ApiError(code, withIdsAsSent(message, texts) + explanation, headers);
}
