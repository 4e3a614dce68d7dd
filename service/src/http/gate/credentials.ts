import type { IncomingHttpHeaders } from 'node:http';

/** The API key of a request, from `X-API-Key` or a Bearer token (RFC 6750 §2.1); `undefined` when it has none. */
export function presentedKey(headers: IncomingHttpHeaders): string | undefined {
  const header = headers['x-api-key'];
  if (header !== undefined) return String(header).trim();
  const { authorization } = headers;
  if (authorization === undefined) return undefined;
  return /^bearer +(\S+) *$/i.exec(authorization)?.[1];
}
