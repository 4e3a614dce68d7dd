import { NAME, STRICT_NAME } from '../../service/src/contract/display-text.ts';
import { ApiError } from '../../service/src/contract/errors.ts';
import { formatDateTime, parseDateTime } from '../../service/src/kit/dates.ts';

/** The parts of a schema of the contract that decide whether a value is valid. */
export interface Rules {
  readonly type: string;
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly nullable?: boolean;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly required?: readonly string[];
  readonly items?: Rules;
  readonly properties?: Readonly<Record<string, Rules>>;
}

/** An operation of the contract that the test service has. */
export interface TestedOperation {
  readonly scopes: readonly string[];
  readonly anyOfScopes: readonly string[];
  readonly stability?: string;
  readonly deprecation?: {
    readonly operationId: string;
    readonly since: string;
    readonly sunset: string;
    readonly successor: string;
  };
  readonly path: Rules;
  readonly query: Rules;
  readonly body?: Rules;
}

// biome-ignore lint/suspicious/noExplicitAny: input that was checked against the rules of its operation
export type Values = Record<string, any>;

const INT64 = 2n ** 63n;

/** Returns path parameters or a query as values. Throws `invalid_request`. */
export function readTexts(rules: Rules, texts: Iterable<readonly [string, string]>): Values {
  const read: Values = {};
  for (const [name, text] of texts) {
    const rule = Object.hasOwn(rules.properties!, name) ? rules.properties![name] : undefined;
    if (rule?.type === 'array')
      read[name] = [...(read[name] ?? []), ...text.split(',').map(item => fromText(rule.items!, item))];
    else if (name in read) throw invalid(`\`${name}\` must be given once`);
    else read[name] = rule ? fromText(rule, text) : text;
  }
  return readObject(rules, read);
}

function fromText({ type }: Rules, text: string): unknown {
  if (type === 'integer') return isInt64(text) ? Number(text) : text;
  return type === 'boolean' && /^(true|false)$/.test(text) ? text === 'true' : text;
}

export function isInt64(text: string): boolean {
  return /^(0|-?[1-9]\d{0,18})$/.test(text) && BigInt(text) >= -INT64 && BigInt(text) < INT64;
}

export const hasFields = (body: unknown): boolean => Object.keys(Object(body)).length > 0;

/** Returns the fields of a body, with trimmed texts and times in UTC. Throws `invalid_request`. */
export function readObject(rules: Rules, value: unknown): Values {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid('The body must be a JSON object');
  if (!rules.properties) return value;
  const missing = rules.required?.find(name => !Object.hasOwn(value, name));
  if (missing !== undefined) throw invalid(`Field \`${missing}\` is required`);
  const fields = Object.entries(value).map(([name, field]) => {
    if (!Object.hasOwn(rules.properties!, name)) throw invalid(`Unknown field or parameter \`${name}\``);
    return [name, readValue(name, rules.properties![name]!, field)];
  });
  return Object.fromEntries(fields);
}

function readValue(name: string, rules: Rules, value: unknown): unknown {
  const { type, format } = rules;
  if (type === 'any' || (value === null && rules.nullable)) return value;
  if (type === 'object') return readObject(rules, value);
  if (type === 'array') {
    if (!Array.isArray(value) || isOutside(value.length, rules.minItems, rules.maxItems))
      throw broken(name, rules);
    return value.map(item => readValue(name, rules.items!, item));
  }
  const isValid =
    type === 'integer'
      ? Number.isInteger(value) && !isOutside(Number(value), rules.minimum, rules.maximum)
      : typeof value === type && (typeof value !== 'string' || isText(rules, value));
  if (!isValid) throw broken(name, rules);
  if (typeof value !== 'string' || rules.enum) return value;
  return format === 'date-time' ? formatDateTime(parseDateTime(value)!) : value.trim();
}

function isText({ enum: values, format, pattern, minLength, maxLength }: Rules, text: string): boolean {
  if (values) return values.includes(text);
  if (format === 'date-time') return parseDateTime(text) !== undefined;
  if (isOutside([...text].length, minLength, maxLength)) return false;
  // The contract has a simpler pattern of names than the service.
  const strict = pattern === NAME ? STRICT_NAME : pattern;
  return text.isWellFormed() && !text.includes('\0') && (!strict || new RegExp(strict, 'u').test(text));
}

function isOutside(value: number, min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY): boolean {
  return value < min || value > max;
}

function broken(
  name: string,
  { type, enum: values, pattern, items, properties, ...limits }: Rules,
): ApiError {
  const rule = values ? `one of ${values.join(', ')}` : `${type} ${JSON.stringify(limits)}`;
  return invalid(`Field or parameter \`${name}\` must be ${rule}`);
}

export function invalid(message: string): ApiError {
  return new ApiError('invalid_request', message);
}
