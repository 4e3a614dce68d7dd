import type { Schema } from '../../src/contract/schema.ts';
import { describedRoutes } from '../../src/described-routes.ts';
import type { Route } from '../../src/routes/define-route.ts';
import { cursorAfter } from '../support/pages.ts';
import type { Random } from '../support/random.ts';
import { servedPaths } from '../support/served-paths.ts';
import { anyText, type Known, oddValue, Raw, toJson, validValue } from './any-value.ts';

export interface AnyRequest {
  /** `undefined` for a request to a path or method that the contract does not have. */
  operation: Route | undefined;
  method: string;
  target: string;
  headers: Record<string, string>;
  body: string | Uint8Array | undefined;
}

/** The odd part of a request; the other parts follow the contract. */
type OddPart = 'none' | 'path' | 'query' | 'header' | 'field' | 'body';

function oddPartOf(random: Random, { params, query, body }: Route): OddPart {
  return random.pick<OddPart>([
    'none',
    'header',
    ...(params ? (['none', 'path'] as const) : []),
    ...(query ? (['none', 'query', 'query'] as const) : []),
    ...(body ? (['none', 'field', 'field', 'body'] as const) : []),
    // Most operations ignore these two headers.
    ...(random.next() < 0.1 ? (['query', 'body'] as const) : []),
  ]);
}

const HOSTS = ['shop', '[', 'a b', '%zz', '127.0.0.1:99999', '', '[::1]:80', 'a@b', 'a/b'];

const HEADERS: Record<string, readonly string[]> = {
  accept: ['application/json', '*/*', 'text/html', 'application/json;q=0', ', ,', '*'.repeat(3_000)],
  'accept-encoding': ['gzip', 'br;q=0', '*;q=abc', ','.repeat(3_000)],
  'api-version': ['1', '1.0', '2', '01', '9'.repeat(2_000)],
  authorization: ['Bearer x', 'Basic eDp4', 'Bearer', `Bearer ${' '.repeat(3_000)}x`],
  'content-encoding': ['identity', 'gzip', 'br', ','.repeat(1_000)],
  'content-type': [
    'application/json',
    'application/merge-patch+json',
    'application/json; charset=latin1',
    'text/plain',
    `application/json;${' '.repeat(3_000)}x`,
  ],
  expect: ['100-continue', 'x'],
  forwarded: ['for=1.2.3.4'],
  'idempotency-key': ['a', '"a"', '"', 'a'.repeat(255), 'a'.repeat(256), '\u00e9'],
  'if-match': ['*', '"x"', 'W/"x"', '"', `${'"x",'.repeat(1_500)}"x"`, '"\\'],
  'if-none-match': ['*', '"x"', 'W/"x"', 'x', `${'"x",'.repeat(1_500)}"`],
  'last-event-id': ['0', '-1', 'latest', '9'.repeat(100), 'x'],
  host: HOSTS,
  'x-api-key': ['', 'psk_wrong', 'x'.repeat(3_000)],
  'x-forwarded-for': ['1.2.3.4', '1.2.3.4, ::1', ','.repeat(3_000), 'x'],
  'x-request-id': ['a', 'a b', 'a'.repeat(3_000), '\u00ff'],
};

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'QUERY', 'PURGE'];

const TARGETS = [
  '*',
  '/',
  '//',
  '/docs',
  '/docs/x',
  '/healthz/',
  '/pets/1/2',
  '/%2e%2e',
  '/%ZZ',
  '/%ff',
  '/.env',
];

/** A random request that HTTP can carry: usually an operation of the contract with one odd part, or a page. */
export function anyRequest(random: Random, known: Known): AnyRequest {
  const share = random.next();
  if (share < 0.85) return operationRequest(random, known);
  return share < 0.95 ? pageRequest(random, known) : strayRequest(random);
}

const operationPaths = new Set(describedRoutes.map(({ path }) => path));

/** Paths below `/docs` and `/console`, with and without a page. */
const BELOW = [
  '',
  'x',
  'guide',
  'errors.md',
  'search.json',
  'operations/listPets',
  'animals/7',
  'sign-in',
  '%00',
  '..',
];

const SIGN_INS = [
  '{"ticket":"x"}',
  '{"ticket":{"toString":1}}',
  '{"ticket":null}',
  '{}',
  '[]',
  '"x"',
  '{',
  '',
  undefined,
];

/** A request to a path that the service serves and the contract does not have: a page, an asset, or the sign-in. */
function pageRequest(random: Random, known: Known): AnyRequest {
  const pages = servedPaths().filter(({ template }) => !operationPaths.has(template));
  const { template, methods } = random.pick(pages);
  const below = () => (random.next() < 0.7 ? random.pick(BELOW) : encoded(random, anyText(random, 8)));
  return {
    operation: undefined,
    method: random.pick(random.next() < 0.9 ? [...methods] : METHODS),
    target: template.replace(/\*|\{\w+\}/g, below) + queryOf(random, undefined, random.next() < 0.2, known),
    headers: {
      ...(random.next() < 0.3 && headersOf(random)),
      ...(random.next() < 0.3 && { host: random.pick(HOSTS) }),
    },
    body: methods.has('POST') || random.next() < 0.2 ? random.pick(SIGN_INS) : undefined,
  };
}

function operationRequest(random: Random, known: Known): AnyRequest {
  const operation = random.pick(describedRoutes);
  const { query, body } = operation;
  const odd = oddPartOf(random, operation);
  const isRead = operation.method === 'GET' && random.next() < 0.1;
  return {
    operation,
    method: isRead ? 'HEAD' : operation.method,
    target: pathOf(random, operation, odd === 'path') + queryOf(random, query, odd === 'query', known),
    headers: odd === 'header' || random.next() < 0.1 ? headersOf(random) : {},
    body: body ? bodyOf(random, body, odd, known) : odd === 'body' ? '{"a":1}' : undefined,
  };
}

/** The body of a batch: usually operations of the contract, some of which cannot be part of a batch, each with at most one odd part. */
function batchOf(random: Random, known: Known): Record<string, unknown> {
  const operations = Array.from({ length: random.between(1, 4) }, () => {
    const { method, target, body } = operationRequest(random, known);
    const hasBody = typeof body === 'string' && body !== '' && random.next() < 0.95;
    return {
      method,
      path: random.next() < 0.1 ? '/pets/{a}' : target,
      ...(hasBody && { body: isJson(body) ? new Raw(body) : {} }),
      ...(random.next() < 0.3 && { label: random.pick(['a', 'b', '', '1']) }),
      ...(random.next() < 0.2 && { ifMatch: random.pick(HEADERS['if-match']!) }),
    };
  });
  return { atomic: random.next() < 0.3, operations };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function strayRequest(random: Random): AnyRequest {
  const target = random.next() < 0.7 ? random.pick(TARGETS) : `/${encoded(random, anyText(random, 8))}`;
  return {
    operation: undefined,
    method: random.pick(METHODS),
    target: random.next() < 0.1 ? target + '/'.repeat(5_000) : target,
    headers: headersOf(random),
    body: random.next() < 0.3 ? '{}' : undefined,
  };
}

function pathOf(random: Random, { path, params }: Route, isOdd: boolean): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const schema = params!.properties![name]!;
    // Requests use only the first few keys and plan requests; the others belong to the client.
    const id = random.between(1, name === 'keyId' || name === 'requestId' ? MAX_KEY_ID : 12);
    // An empty segment would make a different path.
    return isOdd
      ? encoded(random, textOf(oddValue(random, schema, {}, name)) || '0').slice(0, 4_000)
      : `${id}`;
  });
}

/** Requests use the API keys and plan requests with IDs from 1 to this one. */
export const MAX_KEY_ID = 9;

function queryOf(random: Random, query: Schema | undefined, isOdd: boolean, known: Known): string {
  const properties = query?.properties ?? {};
  const names = Object.keys(properties).filter(() => random.next() < 0.3);
  const pairs = names.flatMap(name =>
    [valueOfParameter(random, name, properties[name]!, known)]
      .flat()
      .map(value => `${name}=${encoded(random, textOf(value))}`),
  );
  if (isOdd) {
    const name = oddName(random, properties);
    const schema: Schema = properties[name] ?? { type: 'string' };
    const value = name === 'wait' ? random.pick(ODD_WAITS) : oddValue(random, schema, known, name);
    const text = encoded(random, textOf(value)).slice(0, 6_000);
    pairs.push(...Array<string>(random.pick([1, 1, 1, 2, 300])).fill(`${name}=${text}`.slice(0, 6_000)));
  }
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`.slice(0, 10_000);
}

const ODD_NAMES = ['__proto__', 'x', '', 'limit[]', '%ZZ', '%00'];

/** Usually a known parameter. */
function oddName(random: Random, properties: object): string {
  const known = Object.keys(properties);
  return random.pick(known.length > 0 && random.next() < 0.8 ? known : ODD_NAMES);
}

/** Never a wait: the test would wait for as long. */
const ODD_WAITS = ['0', '-1', '61', '', 'x', '0.5'];

function valueOfParameter(random: Random, name: string, schema: Schema, known: Known): unknown {
  if (name === 'wait') return '0';
  if (name === 'cursor') return random.pick(['latest', '0', '5', cursorOf(random)]);
  return validValue(random, schema, known, name);
}

function cursorOf(random: Random): string {
  const sort = random.pick(['id', '-id', 'name', '-name', 'petId', '-petId', 'quantity', 'shipDate']);
  const key = random.pick([[1], [3], ['a', 1], ['', 0], [null], ['\0', 1], ['\ud800', 1], [1.5], [2 ** 60]]);
  return cursorAfter(sort, key);
}

function headersOf(random: Random): Record<string, string> {
  const name = random.pick(Object.keys(HEADERS));
  return { [name]: random.pick(HEADERS[name]!) };
}

function bodyOf(random: Random, schema: Schema, odd: OddPart, known: Known): string | Uint8Array | undefined {
  const isBatch = schema.properties?.operations !== undefined;
  const body = isBatch
    ? batchOf(random, known)
    : (validValue(random, schema, known) as Record<string, unknown>);
  const properties = schema.properties ?? {};
  if (odd === 'field') {
    const name = oddName(random, properties);
    body[name] = oddField(random, name, properties[name] ?? { type: 'string' }, known);
  }
  const json = toJson(body);
  if (odd !== 'body') return json;
  const at = random.between(0, json.length);
  return random.pick([
    () => undefined,
    () => '',
    () => json.slice(0, at),
    () => json.slice(0, at) + random.pick(['\0', '"', '\\u', '{', ',', '1e999']) + json.slice(at + 1),
    () => json.replace('{', `{${'"name":"a",'.repeat(random.pick([1, 5_000]))}`),
    () => `[${json}]`,
    () => toJson(oddValue(random, schema, known, '')),
    () => `{"name":"${'x'.repeat(random.pick([60_000, 70_000]))}"}`,
    () => Buffer.from(`\ufeff${json}`),
    () => Buffer.concat([Buffer.from(json), Buffer.from([0xff])]),
  ])();
}

/** One field of an object can be odd, too. */
function oddField(random: Random, name: string, schema: Schema, known: Known): unknown {
  const inner = Object.keys(schema.properties ?? {});
  if (inner.length === 0 || random.next() < 0.5) return oddValue(random, schema, known, name);
  const object = validValue(random, { ...schema, nullable: false }, known, name) as Record<string, unknown>;
  const field = random.pick(inner);
  return { ...object, [field]: oddValue(random, schema.properties![field]!, known, field) };
}

function textOf(value: unknown): string {
  if (value instanceof Raw) return value.json;
  return typeof value === 'object' ? toJson(value) : String(value);
}

/** Percent-encodes a text; a lone surrogate becomes the bytes that some clients send for it. */
function encoded(random: Random, text: string): string {
  if (!text.isWellFormed()) return '%ED%A0%80';
  const whole = encodeURIComponent(text);
  return random.next() < 0.02 ? whole.slice(0, -1) : whole;
}
