import assert from 'node:assert/strict';
import { Ajv, type ValidateFunction } from 'ajv';
import ajvFormats from 'ajv-formats';
import { withHiddenEscaped } from '../../src/contract/display-text.ts';
import { document, headersOf, type OperationObject, type ResponseObject } from '../contract/document.ts';

/** Headers of HTTP itself, which describe the message and its connection. */
const PLAIN_HEADERS = new Set([
  'connection',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'transfer-encoding',
]);

const EVERY_RESPONSE = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit-Policy',
  'RateLimit',
  'X-Request-Id',
  'API-Version',
  'Cache-Control',
  'X-Content-Type-Options',
];

/** Headers of every response that pages of another origin can read. */
const CROSS_ORIGIN = ['Vary', 'Access-Control-Allow-Origin', 'Access-Control-Expose-Headers'];

/** Headers of the response to a preflight request of a browser, which the contract describes in prose. */
const PREFLIGHT = [
  ...[...EVERY_RESPONSE, ...CROSS_ORIGIN].map(name => name.toLowerCase()),
  'access-control-allow-headers',
  'access-control-allow-methods',
  'access-control-max-age',
];

// The linters check the schemas against the meta-schema; compiling the meta-schema is slow.
// Schemas are compiled in each process, in half of the time if each of them is compiled once and not improved.
const ajv = new Ajv({
  ...{ strict: false, allErrors: true, meta: false, validateSchema: false },
  ...{ inlineRefs: false, code: { optimize: false } },
});
ajvFormats.default(ajv as never);
ajv.addSchema({ $id: 'contract', components: document.components });

/** The paths with parameters. */
const templates = Object.entries(document.paths)
  .filter(([template]) => template.includes('{'))
  .map(([template, operations]) => ({
    pattern: new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}$`),
    operations,
  }));

/** By the object of their schema, which must therefore be the same for each response: compiling takes much longer than checking. */
const validators = new Map<object, ValidateFunction>();

/** The headers of a rejection without an operation, in addition to those of every response. */
const REJECTIONS: Readonly<Record<number, string[]>> = {
  401: ['WWW-Authenticate'],
  429: ['Retry-After', 'X-Should-Retry'],
  503: ['Retry-After', 'X-Should-Retry'],
};

type Documented = Pick<ResponseObject, 'headers' | 'content'>;

/** What rejections without an operation have, by status. */
const rejections = new Map<number, Documented>();

/** What a rejection without an operation has: 405 names the allowed methods. */
function rejectionWithout(status: number): Documented {
  const known = rejections.get(status);
  if (known) return known;
  const names = [...EVERY_RESPONSE, 'X-Quota-Warning', ...CROSS_ORIGIN, ...(REJECTIONS[status] ?? [])];
  const rejection = {
    headers: {
      ...Object.fromEntries(names.map(name => [name, { $ref: `#/components/headers/${name}` }])),
      Allow: { required: status === 405, schema: { type: 'string' } },
    },
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
  };
  rejections.set(status, rejection);
  return rejection;
}

interface Exchange {
  method: string;
  path: string;
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

/** Fails unless `openapi.yaml` documents the response: its status, its body, and all of its headers. */
export function assertMatchesContract(exchange: Exchange): void {
  const { method, path, status, headers } = exchange;
  if (isPage(exchange)) {
    assertIsPage(exchange);
    return;
  }
  if (method === 'OPTIONS' && status === 204) {
    if ('access-control-allow-methods' in headers) assertIsPreflightResponse(exchange);
    else assertIsOptionsResponse(exchange);
    return;
  }
  const summary = `${method} ${path} → ${status} ${exchange.text}`;
  const operation = operationOf(method, path);
  const response = responseOf(operation, exchange);

  const documented = new Map(
    Object.entries(headersOf(response)).map(([name, header]) => [name.toLowerCase(), header]),
  );
  for (const [name, header] of documented) {
    const value = headers[name];
    assert.ok(value !== undefined || !header.required, `${summary}: header ${name} is missing`);
    if (value !== undefined)
      assertFits(header.schema, typed(header.schema, String(value)), `${summary}: header ${name}`);
  }
  for (const name of Object.keys(headers)) {
    assert.ok(
      documented.has(name) || PLAIN_HEADERS.has(name),
      `${summary}: header ${name} is not documented`,
    );
  }
  const canBeKept = (method === 'GET' || method === 'HEAD') && status < 400;
  if (!canBeKept) assert.equal(headers['cache-control'], 'no-store', `${summary}: it may be kept`);
  assertBodyFits(response, exchange, summary);
}

function assertIsPage({ headers }: Exchange): void {
  for (const name of EVERY_RESPONSE) assert.ok(headers[name.toLowerCase()] !== undefined, name);
}

function assertIsPreflightResponse({ headers, text }: Exchange): void {
  const names = Object.keys(headers).filter(name => !PLAIN_HEADERS.has(name));
  assert.deepEqual(names.toSorted(), PREFLIGHT.toSorted());
  assert.equal(text, '');
}

/** The response to OPTIONS from a client that is not a browser, which the contract describes in prose. */
function assertIsOptionsResponse({ headers, text }: Exchange): void {
  const required = [...EVERY_RESPONSE, 'Allow'].map(name => name.toLowerCase());
  for (const name of required) assert.ok(headers[name] !== undefined, name);
  const known = [...required, 'accept-patch', ...CROSS_ORIGIN.map(name => name.toLowerCase())];
  for (const name of Object.keys(headers)) assert.ok(known.includes(name) || PLAIN_HEADERS.has(name), name);
  assert.equal(text, '');
}

function assertBodyFits(
  { content }: Documented,
  { method, status, headers, text }: Exchange,
  summary: string,
): void {
  if (content === undefined || method === 'HEAD') {
    assert.equal(text, '', `${summary}: no body is documented`);
    return;
  }
  const mediaType = String(headers['content-type']).split(';')[0]!;
  const media = content[mediaType];
  assert.ok(media, `${summary}: media type ${mediaType} is not documented`);
  const body = mediaType.endsWith('json') ? JSON.parse(text) : text;
  assertFits(media.schema, body, summary);
  if (status >= 400) assertIsErrorMessage(body.message, summary);
}

/**
 * Fails unless a message begins with a capital letter and ends without a full stop. A text that it repeats must be neither invisible
 * nor able to reorder the message or control a terminal.
 */
export function assertIsErrorMessage(message: string, summary: string): void {
  assert.match(message, /^[A-Z]/, `${summary}: the message does not begin with a capital letter`);
  assert.doesNotMatch(message, /\.$/, `${summary}: the message ends with a full stop`);
  assert.equal(
    withHiddenEscaped(message),
    message,
    `${summary}: the message has characters that show nothing`,
  );
}

function responseOf(operation: OperationObject | undefined, exchange: Exchange): Documented {
  const response = operation?.responses[exchange.status];
  if (response === undefined) return undocumented(operation, exchange);
  return '$ref' in response ? document.components.responses[response.$ref.split('/').at(-1)!]! : response;
}

/** Whether a response is a page of the portal or the console, or a package, which are not part of the contract. */
function isPage({ method, path, status, headers }: Exchange): boolean {
  const pathname = path.split('?', 1)[0]!;
  const isAtPage = /^\/((docs|console|packages)(\/.*)?|docs\.md|llms(-full)?\.txt)?$/.test(pathname);
  // Browsers get errors as pages.
  const hasContent = status < 400 || String(headers['content-type']).startsWith('text/html');
  return (method === 'GET' || method === 'HEAD') && isAtPage && hasContent;
}

/**
 * A request that is not an operation of the contract (404, 405) still gets a response in the contract's error shape.
 */
function undocumented(operation: OperationObject | undefined, exchange: Exchange): Documented {
  const summary = `${exchange.method} ${exchange.path} → ${exchange.status} ${exchange.text}`;
  assert.equal(operation, undefined, `${summary}: the status is not documented`);
  assert.ok(exchange.status >= 400, `${summary}: the operation is not documented`);
  return rejectionWithout(exchange.status);
}

export function operationOf(method: string, path: string): OperationObject | undefined {
  const pathname = path.split('?', 1)[0]!;
  const verb = method === 'HEAD' ? 'get' : method.toLowerCase();
  // The service cannot read such a path, so it is no operation.
  if (!isDecodable(pathname)) return undefined;
  const exact = document.paths[pathname];
  if (exact) return exact[verb];
  return templates.find(({ pattern }) => pattern.test(pathname))?.operations[verb];
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

function typed(schema: object, text: string): unknown {
  return 'type' in schema && schema.type === 'integer' && /^-?\d+$/.test(text) ? Number(text) : text;
}

function assertFits(schema: object, value: unknown, summary: string): void {
  const validate = validatorOf(schema);
  assert.ok(validate(value), `${summary}: ${ajv.errorsText(validate.errors)}`);
}

/** Returns whether a schema of the contract allows a value: with the rules that any validator of JSON Schema knows. */
export function validatorOf(schema: object): ValidateFunction {
  let validate = validators.get(schema);
  if (!validate) {
    validate = ajv.compile(
      JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"contract#/components')),
    );
    validators.set(schema, validate);
  }
  return validate;
}
