import type { IncomingHttpHeaders } from 'node:http';
import { ApiError } from '../../contract/errors.ts';
import { shownName } from '../quoting.ts';

/**
 * Returns the origin of the page that sends a request (RFC 6454 §7), if it is none of `origins`. Requests without the header
 * Origin are not from a page of another origin: browsers send it with each of those.
 */
export function foreignOrigin(
  { origin }: IncomingHttpHeaders,
  origins: readonly string[],
): string | undefined {
  return origin === undefined || origins.includes(origin) ? undefined : origin;
}

/** The error for a request from a page whose origin the publishable key does not list. */
export function originNotAllowed({ origin = '' }: IncomingHttpHeaders): ApiError {
  return new ApiError(
    'origin_not_allowed',
    `The publishable key does not allow pages of the origin ${shownName(origin)}: open the page at an origin that the key ` +
      'lists, or ask an administrator to add this one to its `origins`',
  );
}
