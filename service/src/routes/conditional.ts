import type { IncomingHttpHeaders } from 'node:http';
import { ApiError } from '../contract/errors.ts';
import { hash64 } from '../kit/hash.ts';
import { shortened } from '../kit/text.ts';

/** A strong ETag (RFC 9110 §8.8.3): a 64-bit hash of the text that is sent. */
export function etagOf(body: string): string {
  return `"${hash64(body)}"`;
}

/** Whether a GET may return 304: If-None-Match lists this ETag (RFC 9110 §13.1.2, weak comparison). */
export function isNotModified({ 'if-none-match': ifNoneMatch }: IncomingHttpHeaders, etag: string): boolean {
  return ifNoneMatch !== undefined && listsEtag(ifNoneMatch, etag, 'weak');
}

/**
 * Returns the check of a write on the current state, inside its transaction: If-Match must list its ETag (strong
 * comparison), If-None-Match must not (RFC 9110 §13.1.1–2). The check throws `precondition_failed`.
 */
export function guardOf(headers: IncomingHttpHeaders): (current: object) => void {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = headers;
  if (ifMatch === undefined && ifNoneMatch === undefined) return () => {};
  return current => {
    const etag = etagOf(JSON.stringify(current));
    if (ifMatch !== undefined && !listsEtag(ifMatch, etag, 'strong')) {
      throw new ApiError(
        'precondition_failed',
        `If-Match ${shortened(ifMatch, 60)} does not name the current state, whose ETag is ${etag}: read it again and retry`,
      );
    }
    if (ifNoneMatch !== undefined && listsEtag(ifNoneMatch, etag, 'weak')) {
      throw new ApiError(
        'precondition_failed',
        `If-None-Match excludes the current state, whose ETag is ${etag}`,
      );
    }
  };
}

/** Whether an If-Match or If-None-Match header lists `etag` or is `*`. The service's own ETags contain no comma. */
function listsEtag(list: string, etag: string, comparison: 'weak' | 'strong'): boolean {
  if (list.trim() === '*') return true;
  return list.split(',').some(entry => {
    const listed = entry.trim();
    return listed === etag || (comparison === 'weak' && listed === `W/${etag}`);
  });
}
