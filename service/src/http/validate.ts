import { Ajv, type ValidateFunction } from 'ajv';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { ApiError } from '../contract/errors.ts';
import { propertyOf, type Schema } from '../contract/schema.ts';
import { parseDateTime } from '../kit/dates.ts';
import { capitalised } from '../kit/text.ts';
import { excerptOf } from './excerpt.ts';
import { describeFaults, type Part, type Remedies, STORABLE } from './faults.ts';
import { numberAsSent, parseAsSent } from './quoting.ts';

type Values = Record<string, unknown>;

/** Numbers with fewer characters than this always fit into an int64. */
const INT64_DIGITS = 19;
const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

/** The schemas are our own: compiling the meta-schema and checking them against it would block the first request. */
const options = { strict: false, ownProperties: true, meta: false, validateSchema: false } as const;

/** Stops at the first fault, so it reads little of input that is too large. */
const compileFirstFault = compiler(new Ajv({ ...options, useDefaults: true }));

/** Finds all faults. Time and memory grow with their number, so it reads only excerpts. */
const compileAllFaults = compiler(new Ajv({ ...options, allErrors: true, verbose: true }));

/** Returns a function that compiles each schema once, also for several servers in one process. */
function compiler(ajv: Ajv): (schema: Schema) => ValidateFunction<object> {
  ajv.addFormat('date-time', { type: 'string', validate: text => parseDateTime(text) !== undefined });
  // Minimum and maximum limit numbers from JSON; numbers from text are checked to be int64 when they are read.
  ajv.addFormat('uri', fullFormats.uri);
  ajv.addFormat('int64', true);
  ajv.addFormat('int32', true);
  const compiled = new Map<string, ValidateFunction<object>>();
  return schema => {
    const text = JSON.stringify(schema);
    let validate = compiled.get(text);
    if (validate === undefined) {
      validate = ajv.compile<object>(withStorableTexts(schema));
      compiled.set(text, validate);
    }
    return validate;
  };
}

/** Returns a function that parses and checks path parameters or a query, and returns typed values with defaults filled in. */
export function textReader(schema: Schema, part: Part): (values: Record<string, unknown>) => object {
  // The router sets the parameters of the path, and no others: ajv would list their names for each request.
  const { additionalProperties, ...withoutNames } = schema;
  const checked = part === 'path parameter' ? withoutNames : schema;
  const check = checker<Values>(checked, part, (read, texts) => textsAsSent(read as Values, texts));
  const trimTexts = textTrimmer(schema);
  return values => {
    // A client can send any name in a query: without a prototype, `__proto__` is an ordinary name.
    const read: Values = part === 'path parameter' ? {} : Object.create(null);
    for (const name in values) {
      const property = propertyOf(schema, name);
      const value = values[name];
      if (property && property.type !== 'array' && Array.isArray(value)) {
        throw new ApiError(
          'invalid_request',
          `${capitalised(part)} \`${name}\` must be given once, but was given ${value.length} times`,
        );
      }
      read[name] = property === undefined ? value : fromText(property, value);
    }
    return trimTexts(check(read, values));
  };
}

/**
 * Returns a function that checks a JSON body; `json` is its text, which messages quote. It trims display texts in place, reads
 * a missing `optional` body as `{}`, and throws `invalid_request`. `remedies` are for fields that the schema does not have.
 */
export function bodyReader(
  schema: Schema,
  optional = false,
  remedies: Remedies = {},
): (body: unknown, json?: string) => object {
  const check = checker<string>(schema, 'field', (_read, json) => parseAsSent(json), remedies);
  const trimTexts = textTrimmer(schema);
  return (sent, json = '') => {
    const body = sent === undefined && optional ? {} : sent;
    if (body === undefined)
      throw new ApiError('invalid_request', 'The request needs a JSON object as its body');
    return trimTexts(check(body, json));
  };
}

/**
 * Returns a function that checks a value, which was read from `source`; `asSent` returns the value for messages. Schemas are compiled at
 * their first use: compiling all of them at start would double the start time.
 */
function checker<Source>(
  schema: Schema,
  part: Part,
  asSent: (value: unknown, source: Source) => unknown,
  remedies: Remedies = {},
): (value: unknown, source: Source) => object {
  let isValid: ValidateFunction<object> | undefined;
  let findFaults: ValidateFunction<object> | undefined;
  return (value, source) => {
    isValid ??= compileFirstFault(schema);
    if (isValid(value)) return value;
    findFaults ??= compileAllFaults(schema);
    const excerpt = excerptOf(schema, value);
    findFaults(excerpt.value);
    const findings = { errors: findFaults.errors!, leftOut: excerpt.leftOut, asSent: asSent(value, source) };
    throw new ApiError('invalid_request', describeFaults(findings, { schema, part, remedies }));
  };
}

/** Adds a pattern to each string that has no rule for its characters, because PostgreSQL cannot store some, and uses strict ones. */
function withStorableTexts(schema: Schema): Schema {
  const { type, format, enum: values, pattern, items, properties } = schema;
  if (schema.strictPattern !== undefined) return { ...schema, pattern: schema.strictPattern || STORABLE };
  if (type === 'string') return format || values || pattern ? schema : { ...schema, pattern: STORABLE };
  const inner = Object.entries(properties ?? {}).map(([name, property]) => [
    name,
    withStorableTexts(property),
  ]);
  return {
    ...schema,
    ...(items && { items: withStorableTexts(items) }),
    ...(properties && { properties: Object.fromEntries(inner) }),
  };
}

/** The values of a parameter that can have several. Clients repeat the parameter, or separate the values by commas. */
function separated(sent: unknown): string[] {
  return [sent].flat().flatMap(text => String(text).split(','));
}

/** The parameters, with the digits that were sent in place of numbers. */
function textsAsSent(read: Values, texts: Values): Values {
  const asSent = (value: unknown, text: unknown): unknown => {
    if (Array.isArray(value)) {
      const texts = separated(text);
      return value.map((item, i) => asSent(item, texts[i]));
    }
    return typeof value === 'number' ? numberAsSent(String(text)) : value;
  };
  return Object.fromEntries(Object.entries(read).map(([name, value]) => [name, asSent(value, texts[name])]));
}

/** Whether a text is a number of the format int64, written as the service writes numbers. */
export function isInt64(text: string): boolean {
  if (!/^(0|-?[1-9]\d{0,18})$/.test(text)) return false;
  return text.length < INT64_DIGITS || (BigInt(text) >= INT64_MIN && BigInt(text) <= INT64_MAX);
}

function fromText(schema: Schema, value: unknown): unknown {
  if (schema.type === 'array') return separated(value).map(item => fromText(schema.items!, item));
  if (typeof value !== 'string') return value;
  if (schema.type === 'integer') return isInt64(value) ? Number(value) : value;
  if (schema.type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true';
  return value;
}

/** Returns a function that trims the display texts of valid input in place, and returns the input. */
function textTrimmer({ properties = {} }: Schema): (input: object) => object {
  const texts = Object.keys(properties).filter(name => properties[name]!.isDisplayText);
  return input => {
    const values = input as Values;
    for (const name of texts) {
      const text = values[name];
      if (typeof text === 'string') values[name] = text.trim();
    }
    return input;
  };
}
