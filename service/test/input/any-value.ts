import type { Schema } from '../../src/contract/schema.ts';
import type { Random } from '../support/random.ts';

/** Values that the service accepts, by field or parameter name, for schemas that are too general to find one. */
export type Known = Readonly<Record<string, readonly unknown[]>>;

/** New resources get the lowest IDs, so a random ID often exists. */
const MAX_USED_ID = 40;

const INSTANTS = ['2026-12-01T09:00:00Z', '2030-01-01T00:00:00.5+14:00', '0000-01-01T00:00:00Z'];

const ODD_TEXTS = [
  '',
  ' ',
  'null',
  '\0',
  'pets/\0',
  '\ud800',
  '\udc00x',
  '\u{1f415}\u200d\u{1f9ba}',
  '\u202eevil',
  'İSTANBUL ß ς ﷺ',
  'e\u0301'.repeat(20),
  '\u{10ffff}',
  '\ufffe',
  '\r\nX-Injected: 1',
  '__proto__',
  'constructor',
  '..',
  "'; DROP TABLE pets; --",
  '%',
  '_',
  '2026-02-30T00:00:00Z',
  '9999-12-31T23:59:59-23:59',
  `2026-01-01T00:00:00.${'9'.repeat(5_000)}Z`,
];

const ODD_NUMBERS = [
  0,
  -0,
  -1,
  1.5,
  1e21,
  1e308,
  2 ** 31,
  -(2 ** 31) - 1,
  2 ** 32,
  Number.MAX_SAFE_INTEGER,
  Number.MAX_SAFE_INTEGER + 2,
  2 ** 63,
  -(2 ** 63),
];

const ODD_NUMBER_TEXTS = ['-0', '+1', '01', '1e3', '0x10', '9223372036854775807', '9223372036854775808', '٣'];

export function validValue(random: Random, schema: Schema, known: Known, name = ''): unknown {
  const { type, enum: choices, format, example, nullable } = schema;
  if (nullable && random.next() < 0.1) return null;
  if (known[name] && random.next() < 0.9) return random.pick(known[name]);
  if (choices) return random.pick(choices);
  if (example !== undefined && type === 'string' && random.next() < 0.5) return example;
  switch (type) {
    case 'boolean':
      return random.next() < 0.5;
    case 'integer':
      return validInteger(random, schema);
    case 'string':
      return format === 'date-time' ? random.pick(INSTANTS) : validText(random, schema);
    case 'array':
      return validItems(random, schema, known, name);
    case 'object':
      return validObject(random, schema, known);
    case 'any':
      throw new Error('Only responses have values of any type');
  }
}

function validInteger(random: Random, { minimum = 1, maximum = MAX_USED_ID }: Schema): number {
  const draw = random.next();
  if (draw < 0.1) return minimum;
  if (draw < 0.2) return maximum;
  return random.between(minimum, Math.min(maximum, minimum + MAX_USED_ID));
}

function validText(random: Random, { minLength = 0, maxLength = 100 }: Schema): string {
  const draw = random.next();
  const length = draw < 0.1 ? minLength : draw < 0.2 ? maxLength : random.between(minLength, 12);
  return anyText(random, Math.min(length, maxLength));
}

/** The schema of items without rules of their own. */
const ANYTHING: Schema = { type: 'object' };

function validItems(
  random: Random,
  { minItems = 0, maxItems = 5, items }: Schema,
  known: Known,
  name: string,
) {
  const length = Math.max(minItems, Math.min(maxItems, random.between(0, 3)));
  const values = Array.from({ length }, () => validValue(random, items ?? ANYTHING, known, name));
  return values.filter((value, i) => values.indexOf(value) === i);
}

function validObject(random: Random, { properties = {}, required = [] }: Schema, known: Known) {
  const object: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(properties)) {
    if (required.includes(name) || random.next() < 0.5)
      object[name] = validValue(random, property, known, name);
  }
  return object;
}

/** Text of this length: letters, with an occasional character of any other kind that JSON can carry. */
export function anyText(random: Random, length: number): string {
  const letter = () => String.fromCodePoint(random.between(0x61, 0x7a));
  const odd = () => String.fromCodePoint(random.pick([0x20, 0x25, 0x27, 0xe9, 0x3a3, 0x4e2d, 0x1f415]));
  return Array.from({ length }, () => (random.next() < 0.95 ? letter() : odd())).join('');
}

/** A value that the schema probably rejects, and that must do no harm. */
export function oddValue(random: Random, schema: Schema, known: Known, name: string): unknown {
  const { minimum = 0, maximum = 0, minLength = 1, maxLength = 100, maxItems = 10 } = schema;
  const kinds: (() => unknown)[] = [
    () => null,
    () => random.pick(ODD_TEXTS),
    () => random.pick(ODD_TEXTS) + anyText(random, random.between(0, 5)),
    () => random.pick(ODD_NUMBERS),
    () => random.pick(ODD_NUMBER_TEXTS),
    () => random.pick([minimum - 1, maximum + 1]),
    () => anyText(random, random.pick([minLength - 1, maxLength + 1, 5_000])),
    () => ` ${validValue(random, schema, known, name)} `,
    () => `${validValue(random, schema, known, name)}\0`,
    () => prefixOf(random, validValue(random, schema, known, name)),
    () => Array.from({ length: maxItems + 1 }, () => validValue(random, schema.items ?? schema, known, name)),
    () => Array<unknown>(2_000).fill(random.pick(ODD_TEXTS)),
    () => [validValue(random, schema, known, name)],
    () => ({ [random.pick(ODD_TEXTS)]: validValue(random, schema, known, name) }),
    () => nested(random.pick([3, 200, 5_000])),
    () => random.next() < 0.5,
  ];
  return random.pick(kinds)();
}

function prefixOf(random: Random, value: unknown): string {
  const text = String(value);
  return text.slice(0, random.between(0, text.length));
}

/** Arrays nested this deep, as JSON; a parser can reject the depth. */
function nested(depth: number): Raw {
  return new Raw('['.repeat(depth) + ']'.repeat(depth));
}

/** JSON text that is deeper or larger than `JSON.stringify` can write. */
export class Raw {
  readonly json: string;

  constructor(json: string) {
    this.json = json;
  }
}

/** An object as JSON; raw parts are copied unchanged. */
export function toJson(value: unknown): string {
  if (value instanceof Raw) return value.json;
  if (Array.isArray(value)) return `[${value.map(toJson).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).map(([name, field]) => `${JSON.stringify(name)}:${toJson(field)}`);
    return `{${fields.join(',')}}`;
  }
  return JSON.stringify(value) ?? 'null';
}
