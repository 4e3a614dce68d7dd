import { newIdempotencyKey } from '../call.ts';
import type { Client } from '../client.ts';
import type { Batch as BatchBody, BatchOperation, BatchResult, Operations } from '../contract.ts';
import { defined } from '../defined.ts';
import { type ApiError, errorWith, PetStoreError } from '../errors.ts';
import { mapValues } from '../map-values.ts';
import type { CallOptions, OperationName, PostOptions, ResultOf } from '../request.ts';
import { create } from './batches.ts';

/** The contract's maximum. */
const MAX_OPERATIONS = 1_000;

const methods = {
  pets: {
    create: 'POST /pets',
    replace: 'PUT /pets/{petId}',
    update: 'PATCH /pets/{petId}',
    delete: 'DELETE /pets/{petId}',
  },
  categories: {
    create: 'POST /categories',
    replace: 'PUT /categories/{categoryId}',
    update: 'PATCH /categories/{categoryId}',
    delete: 'DELETE /categories/{categoryId}',
  },
  orders: {
    create: 'POST /store/orders',
    replace: 'PUT /store/orders/{orderId}',
    update: 'PATCH /store/orders/{orderId}',
    cancel: 'DELETE /store/orders/{orderId}',
  },
  inventory: {
    set: 'PUT /store/inventory/{petId}',
    adjust: 'POST /store/inventory/{petId}/adjustments',
  },
} as const;

/** The operation that creates the resource of an ID. */
interface Creators {
  petId: 'POST /pets';
  categoryId: 'POST /categories';
  orderId: 'POST /store/orders';
}

/** An operation of a batch. In later operations it means the ID of the resource that it creates. */
export class BatchEntry<Name extends OperationName = OperationName> {
  readonly operation: Name;
  /** Its place in the batch, counted from 0. */
  readonly index: number;

  /** @internal */
  constructor(operation: Name, index: number) {
    this.operation = operation;
    this.index = index;
  }
}

/** An ID, or the operation that creates the resource, or the label of that operation. */
export type BatchId<IdName extends keyof Creators> =
  | number
  | BatchEntry<Creators[IdName]>
  | { $label: string };

type WithIds<Body> = {
  [Field in keyof Body]: Field extends keyof Creators ? Body[Field] | BatchId<Field> : Body[Field];
};

/** What a method takes: the ID if its path has one, the body if it has one, and options. */
type ParametersOf<Name extends OperationName> = [
  ...(Operations[Name] extends { path: infer Path } ? [id: BatchId<keyof Path & keyof Creators>] : []),
  ...(Operations[Name] extends { body: infer Body } ? [body: WithIds<Body>] : []),
  options?: Operations[Name] extends { path: unknown } ? ChangeOptions : CreateOptions,
];

interface CreateOptions {
  /** The name of the resource, for `{ $label: label }` in later operations: letters, digits, `_` and `-`. */
  label?: string;
}

type ChangeOptions = Pick<CallOptions, 'ifMatch'>;

type Methods = {
  readonly [Group in keyof typeof methods]: {
    readonly [Method in keyof (typeof methods)[Group]]: (typeof methods)[Group][Method] extends infer Name extends
      OperationName
      ? (...parameters: ParametersOf<Name>) => BatchEntry<Name>
      : never;
  };
};

export interface BatchOptions {
  /** Whether all operations succeed or fail together, the default. With `false` each succeeds or fails by itself. */
  atomic?: boolean | undefined;
}

/** Collects operations. Their methods are those of the client, and take further operations instead of IDs. */
export interface Batch extends Methods {
  /**
   * Sends the operations in one request, which counts as one request for each of them. If one fails, rejects with its error,
   * whose `failedOperation` is its place, and nothing has changed; not with `atomic: false`. To run a batch again is safe for 23 hours:
   * it has one `Idempotency-Key`.
   */
  run: (options?: PostOptions) => Promise<BatchOutcome>;
}

export interface BatchOutcome {
  /** The result of each operation, in their order, as the service has sent it. */
  all: readonly BatchResult[];
  /** The errors of operations that failed, with their places in `failedOperation`. Only with `atomic: false`. */
  errors: readonly ApiError[];
  /** Whether an earlier request with the same `Idempotency-Key` had run the operations. What they changed may have changed since then. */
  isReplayed: boolean;
  /** Returns the resource after an operation. Throws the error of an operation that failed. */
  get: <Name extends OperationName>(entry: BatchEntry<Name>) => ResultOf<Name>;
}

/** Starts a batch: up to 1,000 changes of pets, categories, orders and stock in one request. Experimental. */
export function batch(client: Client, { atomic = true }: BatchOptions = {}): Batch {
  const operations = new Map<BatchEntry, BatchOperation>();
  const idempotencyKey = newIdempotencyKey();

  function add(name: OperationName, ...values: unknown[]): BatchEntry {
    if (operations.size === MAX_OPERATIONS)
      throw new PetStoreError(
        `A batch has at most ${MAX_OPERATIONS} operations: run this one, and start another`,
      );
    const [method, template = ''] = name.split(' ') as [BatchOperation['method'], string];
    const path = template.replace(/\{\w+\}/, () => inPath(values.shift()));
    const body =
      method === 'DELETE' ? undefined : mapValues(values.shift() as Record<string, unknown>, reference);
    const entry = new BatchEntry(name, operations.size);
    operations.set(entry, defined({ method, path, body, ...(values[0] as object) }));
    return entry;
  }

  function operationOf(entry: BatchEntry): BatchOperation {
    const operation = operations.get(entry);
    if (operation) return operation;
    throw new PetStoreError('The operation belongs to another batch: run that first, and use the ID');
  }

  /** Returns a reference instead of an entry. Its operation gets a label when the first other operation needs one. */
  function reference(value: unknown): unknown {
    if (!(value instanceof BatchEntry)) return value;
    const operation = operationOf(value);
    operation.label ??= `operation-${value.index}`;
    return { $label: operation.label };
  }

  function inPath(value: unknown): string {
    const id = reference(value) as number | { $label: string };
    return typeof id === 'object' ? `{${id.$label}}` : encodeURIComponent(id);
  }

  async function run(options?: PostOptions): Promise<BatchOutcome> {
    const body: BatchBody = { operations: [...operations.values()], atomic };
    const { data, headers } = await create(client, body, {
      idempotencyKey,
      ...defined(options),
    }).withResponse();
    const requestId = headers.get('X-Request-Id') ?? undefined;
    const errors = data.results.map(
      ({ error }, failedOperation) =>
        error && errorWith(error.message, { ...error, requestId, failedOperation }),
    );
    return {
      all: data.results,
      errors: errors.filter(error => error !== undefined),
      isReplayed: headers.has('Idempotency-Replayed'),
      get: <Name extends OperationName>(entry: BatchEntry<Name>) => {
        operationOf(entry);
        const error = errors[entry.index];
        if (error) throw error;
        return data.results[entry.index]?.body as ResultOf<Name>;
      },
    };
  }

  const bound = mapValues(methods, names => mapValues(names, name => add.bind(undefined, name)));
  return { ...(bound as unknown as Methods), run };
}
