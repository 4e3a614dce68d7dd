import { int32 } from '../contract/schema.ts';
import { shape } from '../contract/shape.ts';
import type { Static } from '../contract/static.ts';
import { ErrorShape } from '../http/openapi/responses.ts';
import { LABEL } from './labels.ts';

/** The maximum number of operations in a batch. */
export const MAX_OPERATIONS = 1_000;

/** The maximum number of characters of a path in a batch: more than any path of an operation needs. */
const PATH_LENGTH = 200;

export const BatchOperation = shape({
  title: 'BatchOperation',
  properties: {
    method: { type: 'string', enum: ['POST', 'PUT', 'PATCH', 'DELETE'], description: 'The HTTP method.' },
    path: {
      type: 'string',
      maxLength: PATH_LENGTH,
      pattern: '^/[^?#\\s]*$',
      patternRule: 'must be a path that begins with / and has no query',
      description:
        'The path of the operation, such as `/pets/42`. A label in braces is replaced by the ID of its resource: ' +
        '`/store/inventory/{rex}`.',
    },
    body: {
      type: 'object',
      description:
        'The body of the operation, with the rules that it has as a single request. In a field with an ID, `{"$label": "rex"}` is ' +
        'replaced by the ID of the resource with the label `rex`.',
    },
    ifMatch: {
      type: 'string',
      maxLength: 200,
      pattern: '^[\\t -~]*$',
      patternRule: 'must have printable ASCII characters only',
      description:
        'The header `If-Match` of the operation. Operations that create a resource cannot have it.',
    },
    label: {
      type: 'string',
      maxLength: 64,
      pattern: LABEL,
      patternRule: 'must begin with a letter and have only letters, digits, `_` and `-`',
      description:
        'A name for the resource that the operation creates. Later operations of the batch use it instead of the ID.',
    },
  },
  optional: ['body', 'ifMatch', 'label'],
  example: {
    method: 'POST',
    path: '/pets',
    body: { name: 'Rex', categoryId: { $label: 'dogs' } },
    label: 'rex',
  },
});

const atomic = {
  type: 'boolean',
  default: true,
  description:
    'Whether all operations succeed or fail together. With `false` each operation succeeds or fails by itself.',
} as const;

const operations = { type: 'array', minItems: 1, maxItems: MAX_OPERATIONS } as const;

/** The body as the service checks it at once. Its operations are checked one after another, because there can be many. */
export const BatchBody = {
  type: 'object',
  required: ['operations'],
  additionalProperties: false,
  properties: { atomic, operations },
  example: {
    operations: [
      { method: 'POST', path: '/categories', body: { name: 'Hunting dogs' }, label: 'dogs' },
      BatchOperation.example,
      { method: 'PUT', path: '/store/inventory/{rex}', body: { quantity: 3 } },
    ],
  },
} as const;

/** The body as the contract describes it. */
export const Batch = {
  ...BatchBody,
  title: 'Batch',
  properties: {
    operations: {
      ...operations,
      items: BatchOperation,
      description: 'The operations, in the order of execution.',
    },
    atomic,
  },
} as const;

export const BatchResult = shape({
  title: 'BatchResult',
  properties: {
    status: { ...int32, minimum: 200, maximum: 599, description: 'The HTTP status of the operation.' },
    etag: {
      type: 'string',
      maxLength: 100,
      pattern: '^"[0-9a-z-]+"$',
      description: 'The ETag of the resource after the operation.',
    },
    location: {
      type: 'string',
      maxLength: 100,
      pattern: '^/',
      description: 'The path of the resource that the operation created.',
    },
    body: {
      type: 'object',
      description: 'The resource after the operation, as the operation returns it. Absent after a DELETE.',
    },
    error: ErrorShape,
  },
  optional: ['etag', 'location', 'body', 'error'],
  example: {
    status: 201,
    etag: '"dec8c50d8276d108"',
    location: '/pets/2',
    body: { id: 2, name: 'Rex', categoryId: 2, status: 'available' },
  },
});

export const BatchResults = shape({
  title: 'BatchResults',
  properties: {
    results: {
      type: 'array',
      maxItems: MAX_OPERATIONS,
      items: BatchResult,
      description: 'The result of each operation, in the order of the operations.',
    },
  },
  example: {
    results: [
      {
        status: 201,
        etag: '"42663abe05499987"',
        location: '/categories/2',
        body: { id: 2, name: 'Hunting dogs' },
      },
      BatchResult.example,
      { status: 200, etag: '"f99092f6dedb4b40"', body: { petId: 2, quantity: 3, status: 'available' } },
    ],
  },
});

export type BatchOperation = Static<typeof BatchOperation>;
export type BatchResult = Static<typeof BatchResult>;
export type BatchResults = Static<typeof BatchResults>;
