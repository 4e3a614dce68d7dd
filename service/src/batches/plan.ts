import { ApiError } from '../contract/errors.ts';
import { rejectWithoutScope } from '../http/gate/scope-check.ts';
import { shown } from '../http/quoting.ts';
import { type RouteInput, rejectOtherId } from '../http/route-input.ts';
import { bodyReader } from '../http/validate.ts';
import { isRecord } from '../kit/objects.ts';
import type { Slices } from '../kit/slices.ts';
import { rejectUnquoted } from '../routes/conditional.ts';
import type { Caller } from '../routes/context.ts';
import type { Route } from '../routes/define-route.ts';
import { BatchOperation } from './batch.ts';
import { invalid, Labels, type Reference, withoutLabels, withSomeIds } from './labels.ts';
import type { OperationTable } from './operation-table.ts';

/** An operation whose input fits its route. The IDs of labelled resources are not known yet. */
export interface Step extends RouteInput {
  route: Route;
  /** References to labelled resources, with the index of the operation that creates each. */
  references: readonly (Reference & { owner: number })[];
  /** The name of the ID of the resource that the operation creates, such as `petId`. */
  createdId: string | undefined;
  ifMatch: string | undefined;
  /** The path parameters as they were sent. */
  texts: Readonly<Record<string, string>>;
}

/** The operations of a batch: those that can be executed, and the errors of the others. */
export type Plan = readonly (Step | ApiError)[];

const readOperation = bodyReader(BatchOperation) as (sent: unknown) => BatchOperation;

/** Checks everything about the operations of a batch that does not depend on the store. */
export async function planOf(
  sent: readonly unknown[],
  table: OperationTable,
  caller: Caller,
  slices: Slices,
): Promise<Plan> {
  const labels = new Labels();
  const plan: (Step | ApiError)[] = [];
  for (const [index, operation] of sent.entries()) {
    plan.push(attempt(() => stepOf(operation, { index, labels, earlier: plan, table, caller })));
    await slices.next();
  }
  return plan;
}

function attempt(step: () => Step): Step | ApiError {
  try {
    return step();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

interface Surroundings {
  index: number;
  labels: Labels;
  earlier: Plan;
  table: OperationTable;
  caller: Caller;
}

function stepOf(sent: unknown, { index, labels, earlier, table, caller }: Surroundings): Step {
  if (!isRecord(sent)) throw invalid(`An operation must be a JSON object, but was ${shown(sent)}`);
  const operation = readOperation(sent);
  const { method, path, body, ifMatch, label } = operation;
  if (label !== undefined) labels.give(label, index);
  const { route, readInput, readLabels, createdId, texts } = table.find(method, path);
  rejectMisfits(operation, route);
  rejectWithoutScope(route, caller);
  const references: Reference[] = [];
  const params = withoutLabels(texts, references);
  if (body) readLabels(body, references);
  const owned = references.map(reference => {
    const owner = labels.ownerOf(reference.label, index);
    rejectOtherKind(reference, earlier[owner]!);
    return { ...reference, owner };
  });
  const input = withSomeIds(body, references, () => readInput(params, body));
  if (owned.length === 0) rejectOtherId(route, input);
  return { ...input, route, ifMatch, texts, references: owned, createdId };
}

/** Throws if a reference needs the ID of another kind of resource: a category can have the ID of the pet by chance. */
function rejectOtherKind({ name, label }: Reference, owner: Step | ApiError): void {
  // A failed owner is reported at the execution. An `id` must equal that of the path, which has its kind in its name.
  if (owner instanceof ApiError || name === 'id' || name === owner.createdId) return;
  throw invalid(
    `The label \`${label}\` has a \`${owner.createdId}\`, but \`${name}\` is needed: use another label`,
  );
}

/** Throws for fields that an operation with this route cannot have, and for a missing body. */
function rejectMisfits({ method, path, body, ifMatch, label }: BatchOperation, route: Route): void {
  const creates = route.success.status === 201;
  if (label !== undefined && !creates)
    throw invalid(`${method} ${path} creates no resource that a label could name: leave \`label\` out`);
  if (ifMatch !== undefined && creates)
    throw invalid(`${method} ${path} creates a resource, which has no earlier state: leave \`ifMatch\` out`);
  if (ifMatch !== undefined) rejectUnquoted(ifMatch);
  if (body === undefined && route.body && !route.bodyOptional)
    throw invalid(`${method} ${path} needs a JSON object as its body: add \`body\``);
}
