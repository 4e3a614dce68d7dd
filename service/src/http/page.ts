import type { ServedPath } from './add-path.ts';

/** A path of the portal or the console, which is not an operation of the contract. It requires no key and uses no quota. */
export function pageAt(path: string, handler: ServedPath['handler']): ServedPath {
  return { method: 'GET', gated: { path, scope: null, isPage: true }, handler };
}

/** Allows only resources of the service itself: no inline script or style, no frame, no form that could send a key. */
export const pageHeaders = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
};

/** An asset's URL changes with its content, so browsers may cache it forever. */
export const assetHeaders = { 'cache-control': 'public, max-age=31536000, immutable' };
