import { ApiError } from '../../contract/errors.ts';
import { isLoopback } from '../../kit/client-address.ts';

/** The maximum number of origins of a key. */
export const MAX_ORIGINS = 20;

/** The maximum length of an origin: `https://`, a host name of 253 characters, and a port. */
export const MAX_ORIGIN_LENGTH = 267;

/** The pattern of an origin, for the contract. `rejectOtherThanOrigin` also checks the host, and has better messages. */
export const ORIGIN = '^https?://[a-z0-9.:[\\]_-]+$';

/**
 * Throws `invalid_request` unless `text` is an origin exactly as browsers serialise it in the header Origin (WHATWG HTML,
 * "serialization of an origin"), because it is compared with that header.
 */
export function rejectOtherThanOrigin(text: string): void {
  const url = text.includes('://') ? httpUrlIn(text) : httpUrlIn(`${schemeOf(text)}://${text}`);
  if (url?.origin === text && text.length <= MAX_ORIGIN_LENGTH) {
    if (url.protocol === 'https:' || isTrustworthy(url.hostname)) return;
    throw new ApiError(
      'invalid_request',
      `Field \`origins\`: pages of \`${text}\` are not encrypted; use \`https://${url.host}\`, because only pages of this ` +
        'machine, such as `http://localhost:3000`, can use http',
    );
  }
  throw new ApiError(
    'invalid_request',
    `Field \`origins\`: \`${text}\` is not an origin; ` +
      (url
        ? `did you mean \`${url.origin}\`?`
        : 'send scheme, host and port, such as `https://shop.example` or `http://localhost:3000`, without wildcards'),
  );
}

/** Returns the URL in a text, if it can be that of a page in a browser. */
function httpUrlIn(text: string): URL | undefined {
  if (/[*\s]/.test(text) || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  const isHttp = url.protocol === 'http:' || url.protocol === 'https:';
  // Documents without an origin, such as files, send `null`.
  return isHttp && url.hostname !== 'null' ? url : undefined;
}

/** The scheme to suggest for a text without one. */
function schemeOf(text: string): 'http' | 'https' {
  return /^(localhost|127\.)/i.test(text) ? 'http' : 'https';
}

/** Whether browsers trust the pages of a host without encryption (W3C Secure Contexts §3.1). */
const isTrustworthy = (host: string) => host.endsWith('.localhost') || isLoopback(host);
