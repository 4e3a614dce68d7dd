import type { ErrorObject } from 'ajv';
import { propertyOf, type Schema } from '../contract/schema.ts';
import { capitalised, nearest } from '../kit/text.ts';
import { shown, shownName } from './quoting.ts';

export type Part = 'path parameter' | 'query parameter' | 'field';

/** The maximum number of faults that one message names. */
export const MAX_FAULTS = 5;

/** The pattern of strings that have none of their own: PostgreSQL cannot store NUL or half of a surrogate pair. */
export const STORABLE = '^[^\\u0000\\ud800-\\udfff]*$';

/** The faults of rejected input. */
export interface Findings {
  errors: readonly ErrorObject[];
  /** The number of faults that `errors` does not have. */
  leftOut: number;
  /** The input with its numbers as they were sent; `undefined` if the checked value has the exact numbers. */
  asSent: unknown;
}

/** The message for rejected input: the first faults, and the number of further ones. */
export function describeFaults({ errors, leftOut, asSent }: Findings, schema: Schema, part: Part): string {
  const distinct = errors.filter(error => !followsFromAnother(error, errors));
  const named = distinct.slice(0, MAX_FAULTS);
  const faults = named.map(error => describeFault(error, asSent, schema, part));
  const unnamed = distinct.length - named.length + leftOut;
  return capitalised(faults.join('; ')) + (unnamed > 0 ? `; and ${unnamed} more` : '');
}

/**
 * A value of the wrong type is also not an allowed value, a text of the wrong length can also break its pattern, and items of an
 * array that is too long are not reported.
 */
function followsFromAnother({ keyword, instancePath }: ErrorObject, errors: readonly ErrorObject[]): boolean {
  return errors.some(other => {
    const isSamePlace = other.instancePath === instancePath;
    if (other.keyword === 'type') return isSamePlace && keyword === 'enum';
    if (other.keyword === 'minLength' || other.keyword === 'maxLength')
      return isSamePlace && (keyword === 'pattern' || keyword === 'format');
    if (other.keyword !== 'maxItems') return false;
    return (isSamePlace && keyword === 'uniqueItems') || instancePath.startsWith(`${other.instancePath}/`);
  });
}

function describeFault(
  { keyword, params, instancePath, data, parentSchema }: ErrorObject,
  asSent: unknown,
  schema: Schema,
  part: Part,
): string {
  const names = instancePath.split('/').slice(1).map(unescaped);
  // A query has no path to an item: the parameter is repeated for each item.
  const path = (part === 'query parameter' ? names.slice(0, 1) : names).join('.');
  if (keyword === 'additionalProperties')
    return describeUnknown(params.additionalProperty, path, schema, part);
  const inside = path === '' ? '' : `${path}.`;
  if (keyword === 'required') return `${part} \`${inside}${params.missingProperty}\` is required`;
  const subject = path === '' ? 'the body' : `${part} \`${path}\``;
  const isExact = asSent === undefined || typeof data === 'string';
  const value = isExact ? data : valueAt(asSent, names);
  const rule =
    keyword === 'pattern' && isBlank(data)
      ? 'must not be blank'
      : ruleOf(keyword, params, parentSchema as Schema);
  return `${subject} ${rule}, but was ${shown(value)}`;
}

function isBlank(text: unknown): boolean {
  return typeof text === 'string' && text.trim() === '';
}

/** A name from a JSON pointer (RFC 6901 §4). */
function unescaped(name: string): string {
  return name.replaceAll('~1', '/').replaceAll('~0', '~');
}

function valueAt(value: unknown, names: readonly string[]): unknown {
  return names.reduce((inner, name) => (inner as Record<string, unknown>)[name], value);
}

function describeUnknown(name: string, path: string, schema: Schema, part: Part): string {
  const known = Object.keys((path === '' ? schema : propertyOf(schema, path))?.properties ?? {});
  const near = nearest(name, known);
  const suggestion =
    near !== undefined
      ? `did you mean \`${near}\`?`
      : known.length > 0
        ? `known are ${known.map(field => `\`${field}\``).join(', ')}`
        : 'none is allowed here';
  return `unknown ${part} ${shownName(path === '' ? name : `${path}.${name}`)}; ${suggestion}`;
}

function ruleOf(keyword: string, { limit }: { limit?: number }, schema: Schema): string {
  switch (keyword) {
    case 'type':
      return `must be ${typeNames[schema.type]}${schema.nullable ? ' or null' : ''}`;
    case 'enum':
      return `must be one of ${schema.enum?.map(value => `\`${value}\``).join(', ')}`;
    case 'minimum':
      return `must be at least ${limit}`;
    case 'maximum':
      return `must be at most ${limit}`;
    case 'minLength':
      return limit === 1 ? 'must not be empty' : `must have at least ${limit} characters`;
    case 'maxLength':
      return `must have at most ${limit} characters`;
    case 'pattern':
      return schema.patternRule ?? 'must not contain NUL';
    case 'format':
      return formatRules[schema.format!]!;
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

/** The rules of the formats of texts, and where they come from. */
const formatRules: Record<string, string> = {
  'date-time': 'must be a date-time with offset as in RFC 3339, such as `2026-12-01T09:00:00Z`',
  uri:
    'must be a URL, such as `https://example.com/webhook`, in which spaces, control characters and characters outside ASCII are ' +
    'percent-encoded (RFC 3986)',
};

const typeNames: Record<Schema['type'], string> = {
  object: 'a JSON object',
  array: 'an array',
  string: 'a string',
  integer: 'an integer (int64)',
  boolean: '`true` or `false`',
};
