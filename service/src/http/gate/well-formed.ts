import type { IncomingMessage } from 'node:http';
import { ApiError } from '../../contract/errors.ts';
import { TARGET_LIMIT } from '../../contract/request-limits.ts';
import { inKibibytesAndBytes } from '../../kit/quantities.ts';

/**
 * Throws for what node:http lets through: a target that is too long, has a fragment or is an asterisk (RFC 9112 §3.2), and a
 * Host that is missing or repeated.
 */
export function rejectMalformed({ method, url = '', httpVersion, rawHeaders }: IncomingMessage): void {
  if (url!.length > TARGET_LIMIT) {
    throw new ApiError(
      'uri_too_long',
      `The request target is over ${inKibibytesAndBytes(TARGET_LIMIT)}: it has ${url!.length}`,
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
    throw new ApiError('invalid_request', 'A request target has no fragment: send # in a value as %23');
  }
  const hosts = count(rawHeaders, 'host');
  if (hosts > 1 || (hosts === 0 && httpVersion !== '1.0')) {
    throw new ApiError('invalid_request', `A request has one Host header, but this one had ${hosts}`);
  }
}

/** How often a header is there; `rawHeaders` has names and values by turns. */
function count(rawHeaders: readonly string[], name: string): number {
  let found = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const header = rawHeaders[i]!;
    if (header.length === name.length && header.toLowerCase() === name) found++;
  }
  return found;
}
