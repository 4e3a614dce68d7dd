import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { ApiError } from '../contract/errors.ts';
import type { Schema } from '../contract/schema.ts';
import { parseDateTime } from '../kit/dates.ts';
import { nearest, shortened } from '../kit/text.ts';

type Part = 'path parameter' | 'query parameter' | 'field';

/** Numbers with fewer characters than this are int64 for certain. */
const INT64_DIGITS = 19;
const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

/** How much of a value one message repeats, in characters. */
const SHOWN_LENGTH = 60;

/** How many faults one message names at most. */
const MAX_FAULTS = 5;

const ajv = new Ajv({
  allErrors: true,
  verbose: true,
  useDefaults: true,
  strict: false,
  ownProperties: true,
});
ajv.addFormat('date-time', { type: 'string', validate: text => parseDateTime(text) !== undefined });
// Numbers from JSON are held to minimum and maximum; those from text are held to int64 when they are read.
ajv.addFormat('int64', true);

/** Checks path parameters or a query string, read from text; answers the typed values with defaults filled in. */
export function textReader(schema: Schema, part: Part): (values: Record<string, unknown>) => object {
  const check = checker(schema, part);
  return values => {
    // Without a prototype, so that a parameter named __proto__ is one like any other.
    const read: Record<string, unknown> = Object.create(null);
    for (const name of Object.keys(values)) {
      const property = propertyOf(schema, name);
      const value = values[name];
      if (property && property.type !== 'array' && Array.isArray(value)) {
        throw new ApiError(
          'invalid_request',
          `${part} \`${name}\` must be given once, but was given ${value.length} times`,
        );
      }
      read[name] = property === undefined ? value : fromText(property, value);
    }
    return check(read);
  };
}

/** Checks a JSON body. Text is trimmed first. An `optional` body that is not there counts as `{}`. */
export function bodyReader(schema: Schema, optional = false): (body: unknown) => object {
  const check = checker(schema, 'field');
  return sent => {
    const body = sent === undefined && optional ? {} : sent;
    if (body === undefined)
      throw new ApiError('invalid_request', 'The request needs a JSON object as its body');
    return check(trimTexts(schema, body));
  };
}

/** Schemas are compiled at their first use: compiling all of them at start would double its time. */
function checker(schema: Schema, part: Part): (value: unknown) => object {
  let validate: ValidateFunction<object> | undefined;
  return value => {
    validate ??= ajv.compile<object>(schema);
    if (validate(value)) return value;
    throw new ApiError('invalid_request', describeFaults(validate.errors!, schema, part));
  };
}

function fromText(schema: Schema, value: unknown): unknown {
  if (schema.type === 'array')
    return (Array.isArray(value) ? value : [value]).map(item => fromText(schema.items!, item));
  if (typeof value !== 'string') return value;
  if (schema.type === 'integer' && /^(0|-?[1-9]\d{0,18})$/.test(value)) {
    const isInt64 = value.length < INT64_DIGITS || (BigInt(value) >= INT64_MIN && BigInt(value) <= INT64_MAX);
    return isInt64 ? Number(value) : value;
  }
  if (schema.type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true';
  return schema.format === undefined && schema.enum === undefined && schema.pattern ? value.trim() : value;
}

function trimTexts(schema: Schema, body: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  for (const [name, value] of Object.entries(body)) {
    if (typeof value !== 'string' || propertyOf(schema, name)?.pattern === undefined) continue;
    (body as Record<string, unknown>)[name] = value.trim();
  }
  return body;
}

function propertyOf(schema: Schema, name: string): Schema | undefined {
  return schema.properties && Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
}

function describeFaults(errors: ErrorObject[], schema: Schema, part: Part): string {
  // What is of the wrong type also is none of the allowed values: the first says enough.
  const wrongTypes = new Set(
    errors.filter(({ keyword }) => keyword === 'type').map(error => error.instancePath),
  );
  const told = errors.filter(
    ({ keyword, instancePath }) => keyword !== 'enum' || !wrongTypes.has(instancePath),
  );
  const faults = told.slice(0, MAX_FAULTS).map(error => describeFault(error, schema, part));
  const unnamed = told.length - faults.length;
  return faults.join('; ') + (unnamed > 0 ? `; and ${unnamed} more` : '');
}

function describeFault(
  { keyword, params, instancePath, data, parentSchema }: ErrorObject,
  schema: Schema,
  part: Part,
): string {
  const path = instancePath.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~');
  if (keyword === 'additionalProperties')
    return describeUnknown(params.additionalProperty, path, schema, part);
  const inside = path === '' ? '' : `${path}.`;
  if (keyword === 'required') return `${part} \`${inside}${params.missingProperty}\` is required`;
  const subject = path === '' ? 'the body' : `${part} \`${path}\``;
  return `${subject} ${ruleOf(keyword, params, parentSchema as Schema)}, but was ${shown(data)}`;
}

function describeUnknown(name: string, path: string, schema: Schema, part: Part): string {
  const known = Object.keys((path === '' ? schema : propertyOf(schema, path))?.properties ?? {});
  const near = nearest(name, known);
  const suggestion =
    near !== undefined
      ? `did you mean \`${near}\`?`
      : known.length > 0
        ? `known are ${known.map(field => `\`${field}\``).join(', ')}`
        : 'none is taken here';
  return `unknown ${part} ${shownName(path === '' ? name : `${path}.${name}`)}; ${suggestion}`;
}

function ruleOf(keyword: string, params: Record<string, unknown>, schema: Schema): string {
  const limit = params.limit as number;
  switch (keyword) {
    case 'type':
      return `must be ${typeNames[schema.type]}${schema.nullable ? ' or null' : ''}`;
    case 'enum':
      return `must be one of ${schema.enum!.map(value => `\`${value}\``).join(', ')}`;
    case 'minimum':
      return `must be at least ${limit}`;
    case 'maximum':
      return `must be at most ${limit}`;
    case 'minLength':
      return limit === 1 ? 'must not be empty' : `must have at least ${limit} characters`;
    case 'maxLength':
      return `must have at most ${limit} characters`;
    case 'pattern':
      return 'must not contain control characters';
    case 'format':
      return 'must be a date-time with offset as in RFC 3339, such as `2026-12-01T09:00:00Z`';
    case 'minItems':
      return `must have at least ${limit} ${limit === 1 ? 'item' : 'items'}`;
    case 'maxItems':
      return `must have at most ${limit} items`;
    case 'uniqueItems':
      return 'must not name an item twice';
    default:
      throw new Error(`No message for the schema keyword ${keyword}`);
  }
}

const typeNames: Record<Schema['type'], string> = {
  object: 'a JSON object',
  array: 'an array',
  string: 'a string',
  integer: 'an integer (int64)',
  boolean: '`true` or `false`',
};

/** What was sent, as JSON, shortened: the message stays readable whatever the body held. */
export function shown(value: unknown): string {
  // JSON has no infinity, which is what 1e400 is read as.
  const json = typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? 'nothing');
  return shortened(json, SHOWN_LENGTH);
}

/** A name in code marks, or as JSON where it holds what could be mistaken for the message. */
export function shownName(name: string): string {
  return /^[\w.$-]{1,60}$/.test(name) ? `\`${name}\`` : shown(name);
}
