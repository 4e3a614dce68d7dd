import type { BatchRequest, LabelledRequest, LabelReference } from './shop-batch-model.ts';
import type { Operation } from './shop-operations.ts';
import { pathOf, type Resource } from './shop-shapes.ts';

/** The resources with IDs of their own. */
type Kind = Exclude<Resource, 'inventory'>;

export function kindOf(resource: Resource): Kind {
  return resource === 'inventory' ? 'pets' : resource;
}

/** The IDs that the service assigned so far, by kind. */
export type Ids = Record<Kind, number[]>;

/** An ID that no resource has. */
const MISSING = 4_000_000_000;

type IdOf<Id> = (kind: Kind, reference: number) => Id;

export function finderIn(all: Ids): IdOf<number> {
  return (kind, reference) => {
    const ids = all[kind];
    return reference === 0 || ids.length === 0 ? MISSING : ids[(reference - 1) % ids.length]!;
  };
}

/** The request of an operation, with IDs instead of its references. */
export function settled<Id extends number | LabelReference>(
  { method, resource, target, body, query, stale }: Operation,
  idOf: IdOf<Id>,
): LabelledRequest {
  const own = typeof target === 'number' ? idOf(kindOf(resource), target) : Number(target);
  const settle = (fields: object) =>
    Object.fromEntries(Object.entries(fields).map(([field, value]) => [field, settledValue(value)]));
  const settledValue = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    if ('pet' in value) return idOf('pets', value.pet as number);
    if ('category' in value) return idOf('categories', value.category as number);
    return own;
  };
  const id = typeof own === 'object' ? `{${own.$label}}` : String(own);
  return {
    method,
    resource,
    ...(target !== undefined && { id: typeof target === 'string' ? target : id }),
    ...(body && { body: settle(body) }),
    ...(query && {
      query: Object.fromEntries(Object.entries(settle(query)).map(([name, value]) => [name, String(value)])),
    }),
    ...(stale && { stale }),
  };
}

/**
 * The operations of a batch. Those that create have labels. References count the resources that earlier operations of the batch
 * create, from the last one, and then those that exist.
 */
export function labelled(operations: readonly Operation[], idOf: IdOf<number>): LabelledRequest[] {
  const labels: Record<Kind, LabelReference[]> = { categories: [], pets: [], orders: [] };
  return operations.map((operation, i) => {
    const { method, resource, target } = operation;
    const request = settled(operation, (kind, reference) => {
      const mine = labels[kind];
      return mine[reference - 1] ?? idOf(kind, reference === 0 ? 0 : reference - mine.length);
    });
    if (method !== 'POST' || target !== undefined) return request;
    const label = `${resource}-${i}`;
    labels[kindOf(resource)].unshift({ $label: label });
    return { ...request, label };
  });
}

export function bodyOf({ atomic, operations }: BatchRequest): object {
  return {
    atomic,
    operations: operations.map(({ method, resource, id, body, stale, label }) => ({
      method,
      path: pathOf(method, resource, id),
      body,
      label,
      ...(stale && { ifMatch: '"stale"' }),
    })),
  };
}
