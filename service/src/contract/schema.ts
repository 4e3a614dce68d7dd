import { MAX_ID } from '../kit/ids.ts';
import { DEFAULT_LIMIT, MAX_COUNTED } from '../kit/paging.ts';
import { grouped } from '../kit/quantities.ts';
import { LINES, NAME, STRICT_NAME } from './display-text.ts';

/** The subset of JSON Schema (in the form of OpenAPI 3.0.3) that the contract uses. */
export interface Schema {
  /** `any` is for responses only: it is published as a schema without a type. */
  readonly type: 'object' | 'array' | 'string' | 'integer' | 'boolean' | 'any';
  /** A named shape: it becomes a component of the OpenAPI document. */
  readonly title?: string;
  readonly description?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
  /** The values of an open list: later releases may add some. Published as `x-extensible-enum`. */
  readonly knownValues?: readonly string[];
  readonly not?: { readonly enum: readonly string[] };
  readonly default?: string | number | boolean;
  readonly example?: unknown;
  readonly nullable?: boolean;
  readonly readOnly?: boolean;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  /** The rule of `pattern` in words, for messages: "must …". It is not published. */
  readonly patternRule?: string;
  /** The pattern that the service checks in its place, if it can be more precise; empty if the domain checks the text. It is not published. */
  readonly strictPattern?: string;
  /** Whether the text is for people. The service trims it after it checked the rules. It is not published. */
  readonly isDisplayText?: true;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  /** Further fields that every response has, although a body may leave them out. Published as `x-always-present`. */
  readonly alwaysPresent?: readonly string[];
  readonly additionalProperties?: boolean;
  /** A union of objects. If it has a `discriminator`, this property has other values in each of them. */
  readonly oneOf?: readonly Schema[];
  readonly discriminator?: string;
}

/** The largest signed 32-bit integer: the maximum number of units in an order or an inventory entry. */
export const MAX_INT32 = 2 ** 31 - 1;

/** An integer of at most 32 bits. */
export const int32 = { type: 'integer', format: 'int32' } as const;

/** A number of things, of any size that JSON numbers represent exactly in every client. */
export const count = {
  type: 'integer',
  format: 'int64',
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
} as const;

export const id = { type: 'integer', format: 'int64', minimum: 1, maximum: MAX_ID } as const;

/** An ID in a path or query. Any int64 is valid there, so the format is the only rule. */
export const idToFind = { type: 'integer', format: 'int64' } as const;

/** A filter by up to 100 IDs. */
export const idsToFind = { type: 'array', items: idToFind, minItems: 1, maxItems: 100 } as const;

const displayText = { type: 'string', isDisplayText: true } as const;

export const nameText = {
  ...displayText,
  minLength: 1,
  maxLength: 200,
  pattern: NAME,
  strictPattern: STRICT_NAME,
} as const;

export const longText = { ...displayText, maxLength: 2000, pattern: LINES } as const;

export const dateTime = { type: 'string', format: 'date-time' } as const;

export const pageLimit = {
  ...int32,
  minimum: 1,
  maximum: 1_000,
  default: DEFAULT_LIMIT,
  description: 'The maximum number of items on a page.',
} as const;

export const countParameter = {
  type: 'boolean',
  example: true,
  description:
    'Whether to count the whole list, in the header `X-Total-Count`. More than ' +
    `${grouped(MAX_COUNTED)} items are not counted: the header is then ${MAX_COUNTED}, and \`X-Total-Count-Relation: gte\` ` +
    'states that there are more.',
} as const;

/** The schema of a property; `undefined` if the schema does not define it itself. */
export function propertyOf(schema: Schema, name: string): Schema | undefined {
  return schema.properties && Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
}
