import { MAX_ORIGIN_LENGTH } from '../../access/api-keys/origins.ts';
import { acceptPatch } from '../../contract/media-types.ts';
import { HEADERS_LIMIT } from '../../contract/request-limits.ts';
import { count, int32, MAX_INT32, type Schema } from '../../contract/schema.ts';
import { API_VERSION } from '../../contract/version.ts';
import { REQUEST_ID } from '../../kit/ids.ts';
import { MAX_COUNTED } from '../../kit/paging.ts';

const integerHeader = (description: string, example: number) => ({
  description,
  required: true,
  schema: count,
  example,
});

const textHeader = (description: string, rules: Partial<Schema>, example: string) => ({
  description,
  schema: { type: 'string', ...rules },
  example,
});

/** A text header that is always sent with the responses that have it; `headers` lists the exceptions. */
const requiredHeader = (...text: Parameters<typeof textHeader>) => ({
  ...textHeader(...text),
  required: true,
});

/** Every header of responses, by name. */
export const headerComponents = {
  'X-RateLimit-Limit': integerHeader(
    'The request limit of the current window: the one with fewer requests left.',
    60,
  ),
  'X-RateLimit-Remaining': integerHeader('Requests remaining in that window.', 59),
  'X-RateLimit-Reset': integerHeader(
    'The end of that window, as a Unix timestamp in seconds.',
    1_795_251_600,
  ),
  'RateLimit-Policy': requiredHeader(
    'All windows: requests (`q`) and seconds (`w`); draft-ietf-httpapi-ratelimit-headers.',
    { maxLength: 250 },
    '"minute";q=60;w=60, "day";q=1000;w=86400',
  ),
  RateLimit: requiredHeader(
    'The current window: requests remaining (`r`), and seconds until it resets (`t`).',
    { maxLength: 100 },
    '"minute";r=59;t=30',
  ),
  'X-Quota-Warning': textHeader(
    'The parts of its limits that the key has used today, if it must be warned: of the day 80, 95 or 100 percent (`p`), of the minute ' +
      '100 percent in 5 of 10 minutes; the limit (`q`), and the seconds until the end of the UTC day (`t`).',
    { maxLength: 100 },
    '"day";p=80;q=1000;t=3600',
  ),
  'X-Request-Id': requiredHeader(
    'The ID of the request in the log: that of the request, or a new one.',
    { maxLength: 128, pattern: REQUEST_ID },
    '4a1d0d5e-2f5c-4c0e-9d53-1f6f0c3f8a11',
  ),
  'API-Version': requiredHeader('The version of the API.', { enum: [API_VERSION] }, API_VERSION),
  'Cache-Control': requiredHeader(
    'Whether the response may be cached: only by the client itself, and only if it asks again before each use.',
    { enum: ['private, no-cache', 'no-store'] },
    'private, no-cache',
  ),
  'X-Content-Type-Options': requiredHeader(
    'The media type is never guessed from the content.',
    { enum: ['nosniff'] },
    'nosniff',
  ),
  'X-Accel-Buffering': textHeader('Proxies must not buffer the stream.', { enum: ['no'] }, 'no'),
  'X-Stability': textHeader(
    'Whether the operation may still change: `experimental` at any time, `beta` only with an entry in the changelog.',
    { enum: ['experimental', 'beta'] },
    'experimental',
  ),
  Deprecation: requiredHeader(
    'When the operation was deprecated (RFC 9745).',
    { maxLength: 20, pattern: '^@[0-9]+$' },
    '@1795219200',
  ),
  Sunset: requiredHeader(
    'The date from which the operation returns 410 (RFC 8594).',
    {
      maxLength: 29,
      pattern: '^[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT$',
    },
    'Thu, 05 Dec 2030 00:00:00 GMT',
  ),
  Link: textHeader(
    'Related URLs (RFC 8288): `next` page, `successor-version` of the operation, `deprecation` notice.',
    { maxLength: HEADERS_LIMIT },
    '</pets?limit=20&cursor=WyJvcTlxVDhXcDZrSSIsMjBd>; rel="next"',
  ),
  'X-Total-Count': {
    description: `With \`count=true\`: the number of items in the whole list, at most ${MAX_COUNTED}.`,
    schema: { ...int32, minimum: 0, maximum: MAX_COUNTED },
    example: 42,
  },
  'X-Total-Count-Relation': {
    description: '`gte` when the list has more items than `X-Total-Count`; absent when the count is exact.',
    schema: { type: 'string', enum: ['gte'] },
    example: 'gte',
  },
  ETag: requiredHeader(
    'A strong entity tag of this state of the resource, for If-Match and If-None-Match.',
    { maxLength: 100, pattern: '^"[0-9a-z-]+"$' },
    '"9c1e5f0a7b3d2e48"',
  ),
  'Content-Encoding': textHeader('How the body is compressed.', { enum: ['br', 'gzip'] }, 'br'),
  Location: requiredHeader('The path of the new resource.', { maxLength: 100, pattern: '^/' }, '/pets/1'),
  'Idempotency-Replayed': textHeader(
    '`true` when the response repeats an earlier outcome.',
    { enum: ['true'] },
    'true',
  ),
  'X-Test': textHeader(
    '`true` on each response to a write with a test key: what the write changed was undone.',
    { enum: ['true'] },
    'true',
  ),
  'Retry-After': {
    description: 'The number of whole seconds to wait before a retry.',
    required: true,
    schema: { ...int32, minimum: 1, maximum: MAX_INT32 },
    example: 30,
  },
  'X-Should-Retry': textHeader(
    'Whether a client should send the request again by itself, after the seconds in `Retry-After` if it has this header: `false` ' +
      'during a ban, when the wait is longer than a minute, and on a 503 to a POST without `Idempotency-Key` that may have been executed.',
    { enum: ['true', 'false'] },
    'true',
  ),
  'X-Failed-Operation': {
    description: 'The index of the operation that failed, from 0, if an operation of an atomic batch failed.',
    schema: { ...int32, minimum: 0, maximum: MAX_INT32 },
    example: 17,
  },
  'Accept-Patch': textHeader(
    'In a response to PATCH: the media types of its body (RFC 5789).',
    { enum: [acceptPatch['accept-patch']] },
    acceptPatch['accept-patch'],
  ),
  'WWW-Authenticate': requiredHeader(
    'How to authenticate (RFC 6750).',
    { maxLength: 1_000 },
    'Bearer realm="petstore"',
  ),
  Vary: textHeader(
    'The headers of the request on which the response depends (RFC 9110).',
    { maxLength: 200 },
    'origin',
  ),
  'Access-Control-Allow-Origin': textHeader(
    'The origin of the request, if a publishable key lists it: its pages can read the response. Never with a key that is not public.',
    { maxLength: MAX_ORIGIN_LENGTH },
    'https://shop.example',
  ),
  'Access-Control-Expose-Headers': textHeader(
    'The headers that such pages can read: all of this contract.',
    { maxLength: 1_000 },
    'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Link, ETag, Retry-After',
  ),
};

export type HeaderName = keyof typeof headerComponents;

/** Headers that only browsers and caches read. */
export const corsHeaders: ReadonlySet<string> = new Set<HeaderName>([
  'Vary',
  'Access-Control-Allow-Origin',
  'Access-Control-Expose-Headers',
]);

const EVERY_RESPONSE: readonly HeaderName[] = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit-Policy',
  'RateLimit',
  'X-Quota-Warning',
  'X-Request-Id',
  'API-Version',
  'Cache-Control',
  'X-Content-Type-Options',
  'Vary',
  'Access-Control-Allow-Origin',
  'Access-Control-Expose-Headers',
];

/** The headers that every response has, and those in `names`. A response may lack those in `optional`, whatever other responses do. */
export function headers(
  names: readonly HeaderName[],
  optional: readonly HeaderName[] = [],
): Record<string, object> {
  const always = [...EVERY_RESPONSE, ...names].map(name => [name, { $ref: `#/components/headers/${name}` }]);
  const sometimes = optional.map(name => [name, { ...headerComponents[name], required: false }]);
  return Object.fromEntries([...always, ...sometimes]);
}
