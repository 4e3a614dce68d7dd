import type { IncomingHttpHeaders } from 'node:http';
import type { AllowedOrigins } from '../../access/api-keys/allowed-origins.ts';
import { isSecretKey } from '../../access/api-keys/secret.ts';
import { HOUR, SECOND } from '../../kit/clock.ts';
import { parameterComponents } from '../openapi/components.ts';
import { corsHeaders, headerComponents } from '../openapi/headers.ts';
import type { HeaderPairs } from '../send.ts';
import { presentedKey } from './credentials.ts';

/** How long a browser may use the response to a preflight request, in seconds: the longest time that Chromium allows. */
const PREFLIGHT_AGE = (2 * HOUR) / SECOND;

/**
 * Every header of the contract: without this list, a page can read only a few, such as Content-Type (Fetch §3.2.6). `Allow` is only
 * on a 405 and in the response to OPTIONS, which are not responses of an operation.
 */
const EXPOSED = [...Object.keys(headerComponents).filter(name => !corsHeaders.has(name)), 'Allow'].join(', ');

const { ApiVersion, RequestId, IfMatch, IfNoneMatch } = parameterComponents;

/**
 * The headers that a page can send: those of reads. Without Content-Type, a page cannot send JSON; the list of methods would not
 * prevent that, because browsers allow POST in any case (Fetch §2.2.1).
 */
const ACCEPTED = [
  'X-API-Key',
  'Authorization',
  ...[ApiVersion, RequestId, IfMatch, IfNoneMatch].map(({ name }) => name),
  'traceparent',
  'tracestate',
].join(', ');

/** The headers of the response to a preflight request (Fetch §3.2.3), in addition to those of every response. */
export const preflightHeaders = {
  'access-control-allow-methods': 'GET, HEAD',
  'access-control-allow-headers': ACCEPTED,
  'access-control-max-age': String(PREFLIGHT_AGE),
  vary: 'Access-Control-Request-Method, Access-Control-Request-Headers',
} as const;

/**
 * Whether pages of the request's origin may read the response: if an active publishable key lists the origin, and the request has no
 * secret key. The text shows the kind of a key, so that this needs no read and also applies to revoked keys. Returns a
 * promise, which never rejects, only if the database must be read.
 */
export function isReadable(
  origins: Pick<AllowedOrigins, 'has'>,
  headers: IncomingHttpHeaders,
  now: number,
): boolean | Promise<boolean> {
  const { origin } = headers;
  if (origin === undefined) return false;
  const key = presentedKey(headers);
  return key !== undefined && isSecretKey(key) ? false : origins.has(origin, now);
}

/** Adds the headers that let pages of the origin read the response. */
export function addCorsHeaders(head: HeaderPairs, { origin = '' }: IncomingHttpHeaders): void {
  head.push('access-control-allow-origin', origin, 'access-control-expose-headers', EXPOSED);
}
