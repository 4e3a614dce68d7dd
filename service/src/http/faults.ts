import type { ErrorObject } from 'ajv';
import { ruleOfDisplayText } from '../contract/display-text.ts';
import { propertyOf, type Schema } from '../contract/schema.ts';
import { isRecord } from '../kit/objects.ts';
import { capitalised, nearest } from '../kit/text.ts';
import { shown, shownName } from './quoting.ts';

export type Part = 'path parameter' | 'query parameter' | 'field';

/** The maximum number of faults that one message names. */
export const MAX_FAULTS = 5;

/** The pattern of strings that have none of their own: PostgreSQL cannot store NUL or half of a surrogate pair. */
export const STORABLE = '^[^\\u0000\\ud800-\\udfff]*$';

/** The faults of rejected input. */
interface Findings {
  errors: readonly ErrorObject[];
  /** The number of faults that `errors` does not have. */
  leftOut: number;
  /** The input with its numbers as they were sent; `undefined` if the checked value has the exact numbers. */
  asSent: unknown;
}

/** Remedies for fields that a body does not have, by name. */
export type Remedies = Readonly<Record<string, string>>;

/** What a message about rejected input needs in addition to the faults. */
interface Subject {
  schema: Schema;
  part: Part;
  remedies?: Remedies;
}

/** The message for rejected input: the first faults, and the number of further ones. */
export function describeFaults({ errors, leftOut, asSent }: Findings, subject: Subject): string {
  const distinct = independent(errors);
  const named = distinct.slice(0, MAX_FAULTS);
  // The unknown names of one object are described together, so that the known names are listed once.
  const groups = Map.groupBy(named, error => (isUnknownName(error) ? error.instancePath : error));
  const faults = [...groups.values()].flatMap(group =>
    isUnknownName(group[0]!)
      ? describeUnknown(group, subject)
      : group.map(error => describeFault(error, asSent, subject)),
  );
  const unnamed = distinct.length - named.length + leftOut;
  return capitalised(faults.join('; ')) + (unnamed > 0 ? `; and ${unnamed} more` : '');
}

function isUnknownName({ keyword }: ErrorObject): boolean {
  return keyword === 'additionalProperties';
}

/** Errors from which others at the same place follow: a text of the wrong length can also break its pattern. */
const following: Readonly<Record<string, readonly string[]>> = {
  type: ['enum'],
  minLength: ['pattern', 'format'],
  maxLength: ['pattern', 'format'],
  maxItems: ['uniqueItems'],
};

/** The errors that do not follow from others. The items of an array that is too long are not reported. */
function independent(errors: readonly ErrorObject[]): ErrorObject[] {
  const byPlace = Map.groupBy(errors, ({ instancePath }) => instancePath);
  const tooLong = errors.filter(({ keyword }) => keyword === 'maxItems');
  return errors.filter(
    ({ keyword, instancePath }) =>
      !byPlace.get(instancePath)!.some(other => following[other.keyword]?.includes(keyword)) &&
      !tooLong.some(array => instancePath.startsWith(`${array.instancePath}/`)),
  );
}

function describeFault(
  { keyword, params, instancePath, data, parentSchema }: ErrorObject,
  asSent: unknown,
  { part }: Subject,
): string {
  const names = namesIn(instancePath);
  const path = pathOf(names, part);
  const inside = path === '' ? '' : `${path}.`;
  if (keyword === 'required') return `${part} \`${inside}${params.missingProperty}\` is required`;
  const subject = path === '' ? 'the body' : `${part} \`${path}\``;
  const isExact = asSent === undefined || typeof data === 'string';
  const value = isExact ? data : valueAt(asSent, names);
  const rule = ruleOf(keyword, params, parentSchema as Schema, data);
  const hint = part === 'query parameter' ? hintForQuery(value, keyword) : hintForBody(value, path, keyword);
  return `${subject} ${rule}, but was ${shown(value)}${hint}`;
}

/** The remedy for a common mistake in a query parameter, whose value breaks the rule `keyword`; empty for other values. */
function hintForQuery(value: unknown, keyword: string): string {
  if (typeof value !== 'string' || keyword !== 'format') return '';
  // Up to the first T: else the time for a value of many T would grow with the square of its length.
  return /^[^\sT]+T\S+ \d\d:\d\d$/i.test(value) ? ': in a URL, write + as %2B' : hintForDay(value);
}

/** The remedy for a date whose month does not have the day; empty for other values. */
function hintForDay(value: unknown): string {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)/.exec(String(value)) ?? [];
  const days = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  return Number(day) > days ? ': this day does not exist' : '';
}

/** The remedy for a body that is a JSON Patch (RFC 6902), a list of bodies or a text, or for a day; empty for other values. */
function hintForBody(value: unknown, path: string, keyword: string): string {
  if (path === '' && typeof value === 'string' && value.startsWith('{'))
    return ': it is a JSON text inside of a JSON text, so encode it once';
  if (path !== '' || !Array.isArray(value)) return keyword === 'format' ? hintForDay(value) : '';
  if (!isRecord(value[0])) return '';
  return 'op' in value[0]
    ? ': JSON Patch is not supported; send an object with the fields to change (RFC 7396)'
    : ': send one object, or several operations with POST /batch';
}

/** The names in a JSON pointer (RFC 6901 §4). */
function namesIn(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map(name => name.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** A query has no path to an item: the parameter is repeated for each item. */
function pathOf(names: readonly string[], part: Part): string {
  return (part === 'query parameter' ? names.slice(0, 1) : names).join('.');
}

function valueAt(value: unknown, names: readonly string[]): unknown {
  return names.reduce((inner, name) => (inner as Record<string, unknown>)[name], value);
}

/** What other services call some parameters. */
const usualNames: Readonly<Record<string, readonly string[]>> = {
  limit: ['per_page', 'perPage', 'page_size', 'pageSize', 'size', 'count_per_page'],
  q: ['search', 'query'],
  sort: ['order', 'order_by', 'orderBy', 'sort_by', 'sortBy'],
  cursor: ['after', 'starting_after', 'page_token', 'pageToken', 'next'],
};

/** What other services call the number of a page. */
const pageNames = ['page', 'offset', 'skip', 'page_number', 'pageNumber'];

/** Describes the unknown names of one object. */
function describeUnknown(errors: readonly ErrorObject[], { schema, part, remedies = {} }: Subject): string[] {
  const path = pathOf(namesIn(errors[0]!.instancePath), part);
  const properties = (path === '' ? schema : propertyOf(schema, path))?.properties ?? {};
  const known = Object.keys(properties).filter(name => !properties[name]!.readOnly);
  const faults: string[] = [];
  const unrecognised: string[] = [];
  for (const { params } of errors) {
    const name: string = params.additionalProperty;
    const full = shownName(path === '' ? name : `${path}.${name}`);
    // Some clients send a repeated parameter as `id[]`.
    const plain = name.replace(/\[\d*\]$/, '');
    const near = nearest(plain, known) ?? known.find(each => usualNames[each]?.includes(plain));
    if (path === '' && Object.hasOwn(remedies, name)) {
      faults.push(`${part} ${full} cannot be set here: ${remedies[name]}`);
    } else if (part === 'query parameter' && known.includes('cursor') && pageNames.includes(plain)) {
      faults.push(`unknown ${part} ${full}: the header \`Link\` has the URL of the next page`);
    } else if (near !== undefined) faults.push(`unknown ${part} ${full}; did you mean \`${near}\`?`);
    else unrecognised.push(full);
  }
  if (unrecognised.length > 0) {
    const names =
      known.length > 0
        ? `known ${known.length > 1 ? 'are' : 'is'} ${known.map(name => `\`${name}\``).join(', ')}`
        : 'none is allowed here';
    faults.push(`unknown ${part}${unrecognised.length > 1 ? 's' : ''} ${unrecognised.join(', ')}; ${names}`);
  }
  return faults;
}

function ruleOf(keyword: string, { limit }: { limit?: number }, schema: Schema, value: unknown): string {
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
      if (schema.isDisplayText) return ruleOfDisplayText(String(value));
      if (String(value).trim() === '') return 'must not be blank';
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

/** The rules of the formats of texts. */
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
  any: 'any value',
};
