import type { Expected, ShopModel } from './shop-model.ts';
import { hasOtherId, isMalformed, type ModelRequest } from './shop-shapes.ts';

/** The ID of a resource that an earlier operation of the batch creates, as a body refers to it. */
export interface LabelReference {
  $label: string;
}

/** A request that can have references instead of IDs: `{pet}` in its path, `{$label: 'pet'}` in its body. */
export interface LabelledRequest extends ModelRequest {
  label?: string;
}

export interface BatchRequest {
  atomic: boolean;
  operations: LabelledRequest[];
}

/** The expected results, or the first operation that fails and the possible codes of its rejection. */
export type ExpectedBatch = { results: Expected[] } | { failed: number; codes: string[] };

const malformed = { codes: ['invalid_request'] };

/** IDs of resources that exist only until their batch is rolled back. */
const PROVISIONAL = 3_000_000_000;

/**
 * The expected response to a batch. `newIds` are the IDs that the service assigned, by the index of the operation, or
 * NaN. An atomic batch is rejected for a malformed operation before the first operation is executed.
 */
export function respondToBatch(
  model: ShopModel,
  { atomic, operations }: BatchRequest,
  now: number,
  newIds: readonly number[],
): ExpectedBatch {
  const broken = operations.map(isMalformedInBatch);
  if (atomic && broken.includes(true)) return { failed: broken.indexOf(true), ...malformed };
  const undo = model.undoPoint();
  const ids = new Map<string, number>();
  const results: Expected[] = [];
  for (const [i, operation] of operations.entries()) {
    const request = broken[i] ? undefined : withIds(operation, label => ids.get(label));
    const newId = newIds[i] || PROVISIONAL + i;
    const expected: Expected = request ? model.respond(request, now, newId) : malformed;
    if (atomic && 'codes' in expected) {
      undo();
      return { failed: i, codes: expected.codes };
    }
    if (operation.label !== undefined && 'body' in expected) ids.set(operation.label, newId);
    results.push(expected);
  }
  return { results };
}

/** Whether an operation is rejected without executing it. The ID of a labelled resource is not known then. */
function isMalformedInBatch(operation: LabelledRequest): boolean {
  if (operation.method === 'GET') return true;
  const request = withIds(operation, () => 1)!;
  return isMalformed(request) || (!hasReferences(operation) && hasOtherId(request));
}

/** The request with IDs instead of references; `undefined` if the resource of one was not created. */
function withIds(
  operation: LabelledRequest,
  idOf: (label: string) => number | undefined,
): ModelRequest | undefined {
  const { id, body = {} } = operation;
  const labels = [labelInPath(id), ...Object.values(body).map(labelInBody)];
  if (labels.some(label => label !== undefined && idOf(label) === undefined)) return undefined;
  const fields = Object.entries(body).map(([field, value]) => {
    const label = labelInBody(value);
    return [field, label === undefined ? value : idOf(label)];
  });
  const label = labelInPath(id);
  return {
    ...operation,
    ...(label !== undefined && { id: String(idOf(label)) }),
    ...(operation.body && { body: Object.fromEntries(fields) }),
  };
}

function hasReferences({ id, body = {} }: LabelledRequest): boolean {
  return [labelInPath(id), ...Object.values(body).map(labelInBody)].some(label => label !== undefined);
}

function labelInPath(id: string | undefined): string | undefined {
  return id?.startsWith('{') ? id.slice(1, -1) : undefined;
}

function labelInBody(value: unknown): string | undefined {
  return typeof value === 'object' && value !== null ? (value as LabelReference).$label : undefined;
}
