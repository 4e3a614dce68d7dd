import type { IncomingMessage } from 'node:http';
import { ApiError } from '../../contract/errors.ts';
import { TARGET_LIMIT } from '../../contract/request-limits.ts';
import { inBinaryUnitAndBytes } from '../../kit/quantities.ts';
import { hostnameOf } from '../host.ts';
import { shown } from '../quoting.ts';

/** The last valid Host header: most requests have the same one. */
let lastHost: string | undefined;

/**
 * Throws for malformed requests that node:http accepts: a target that is too long, has a fragment or is an asterisk, and a
 * Host header that is missing, repeated or not valid (RFC 9112 §3.2).
 */
export function rejectMalformed({
  method,
  url = '',
  httpVersion,
  headers: { host },
  rawHeaders,
}: IncomingMessage): void {
  if (url.length > TARGET_LIMIT) {
    throw new ApiError(
      'uri_too_long',
      `The request target has ${url.length} bytes; the limit is ${inBinaryUnitAndBytes(TARGET_LIMIT)}: send a shorter URL`,
    );
  }
  if (url === '*' && method !== 'OPTIONS') {
    throw new ApiError('invalid_request', 'Only OPTIONS can have the request target *: send a path');
  }
  if (!url.startsWith('/') && url !== '*') {
    throw new ApiError(
      'invalid_request',
      'The request target must be a path, or a URL of HTTP with a valid host',
    );
  }
  if (url.includes('#')) {
    throw new ApiError(
      'invalid_request',
      'A request target cannot have a fragment: send # in a value as %23',
    );
  }
  const hosts = count(rawHeaders, 'host');
  if (hosts > 1 || (hosts === 0 && httpVersion !== '1.0')) {
    throw new ApiError('invalid_request', `A request must have one Host header, but this one had ${hosts}`);
  }
  if (host !== undefined && host !== lastHost) {
    if (hostnameOf(host) === undefined) throw invalidHost(host);
    lastHost = host;
  }
}

function invalidHost(host: string): ApiError {
  return new ApiError(
    'invalid_request',
    `The Host header must be a host name or an address, with an optional port, but was ${shown(host)}`,
  );
}

/** How often a header appears; `rawHeaders` alternates names and values. */
function count(rawHeaders: readonly string[], name: string): number {
  let found = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const header = rawHeaders[i]!;
    if (header.length === name.length && header.toLowerCase() === name) found++;
  }
  return found;
}
