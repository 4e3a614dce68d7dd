import type { IncomingHttpHeaders } from 'node:http';
import { ApiError } from '../contract/errors.ts';
import { quotedHash64 } from '../kit/hash.ts';
import { shortened } from '../kit/text.ts';

/** A strong ETag (RFC 9110 §8.8.3): a 64-bit hash of the text that is sent. */
export function etagOf(body: string): string {
  return quotedHash64(body);
}

/**
 * Whether the response to a GET or HEAD is 304: If-None-Match lists this ETag (RFC 9110 §13.1.2, weak comparison). If-Match takes
 * precedence (§13.2.2): throws as `rejectMismatch` does. Without an ETag it is never 304, because the client could not know what it has.
 */
export function isNotModified(headers: IncomingHttpHeaders, etag: string | undefined): boolean {
  rejectMismatch(headers, etag);
  const { 'if-none-match': ifNoneMatch } = headers;
  return etag !== undefined && ifNoneMatch !== undefined && listsEtag(ifNoneMatch, etag, 'weak');
}

/**
 * Throws `precondition_failed` for a GET or HEAD whose If-Match does not list this ETag (RFC 9110 §13.1.1, strong comparison), and
 * `invalid_request` for one that is not a list of ETags. `etag` is `undefined` for a response without one, which
 * only `*` matches.
 */
export function rejectMismatch({ 'if-match': ifMatch }: IncomingHttpHeaders, etag: string | undefined): void {
  if (ifMatch === undefined) return;
  rejectUnquoted(ifMatch);
  if (!listsEtag(ifMatch, etag, 'strong')) throw mismatch(ifMatch, etag, 'read it without If-Match');
}

/**
 * Returns the check of a write on the current state, inside its transaction: If-Match must list its ETag (strong
 * comparison), If-None-Match must not (RFC 9110 §13.1.1–2). The check throws `precondition_failed`. Throws
 * `invalid_request` for an If-Match that is not a list of ETags.
 */
export function guardOf(headers: IncomingHttpHeaders): (current: object) => void {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = headers;
  if (ifMatch === undefined && ifNoneMatch === undefined) return () => {};
  if (ifMatch !== undefined) rejectUnquoted(ifMatch);
  return current => {
    const etag = etagOf(JSON.stringify(current));
    if (ifMatch !== undefined && !listsEtag(ifMatch, etag, 'strong'))
      throw mismatch(ifMatch, etag, 'read it again and retry');
    if (ifNoneMatch !== undefined && listsEtag(ifNoneMatch, etag, 'weak')) {
      throw new ApiError(
        'precondition_failed',
        `If-None-Match excludes the current state, whose ETag is ${etag}`,
      );
    }
  };
}

function mismatch(ifMatch: string, etag: string | undefined, remedy: string): ApiError {
  const sent = `If-Match ${shortened(ifMatch, 60)}`;
  if (etag === undefined) {
    return new ApiError(
      'precondition_failed',
      `${sent} cannot match, because the response has no ETag: ${remedy}`,
    );
  }
  if (listsEtag(ifMatch, etag, 'weak')) {
    return new ApiError(
      'precondition_failed',
      `${sent} is a weak ETag, which never matches: send it without W/, as ${etag}`,
    );
  }
  const hint = ifMatch.includes('W/"') ? ', with the ETag without W/, because a weak ETag never matches' : '';
  return new ApiError(
    'precondition_failed',
    `${sent} does not name the current state, whose ETag is ${etag}: ${remedy}${hint}`,
  );
}

/** A list of entity tags (RFC 9110 §8.8.3), or `*`. A list may have empty elements (§5.6.1). */
export const ENTITY_TAGS =
  '^[ \\t]*\\*[ \\t]*$|^[ \\t,]*(?:W/)?"[^"]*"(?:[ \\t]*,[ \\t,]*(?:W/)?"[^"]*")*[ \\t,]*$';

const entityTags = new RegExp(ENTITY_TAGS);

/** Throws `invalid_request` for an If-Match that is not a list of ETags. */
export function rejectUnquoted(ifMatch: string): void {
  if (entityTags.test(ifMatch)) return;
  throw new ApiError(
    'invalid_request',
    `Header \`If-Match\` must be an ETag in double quotes, such as "9c1e5f0a7b3d2e48", but was ${shortened(ifMatch, 60) || 'empty'}`,
  );
}

/** Whether an If-Match or If-None-Match header lists `etag` or is `*`. The service's own ETags contain no comma. */
function listsEtag(list: string, etag: string | undefined, comparison: 'weak' | 'strong'): boolean {
  if (list.trim() === '*') return true;
  return list.split(',').some(entry => {
    const listed = entry.trim();
    return listed === etag || (comparison === 'weak' && listed === `W/${etag}`);
  });
}
