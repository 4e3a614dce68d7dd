import type { IncomingHttpHeaders } from 'node:http';
import { ApiError } from '../../contract/errors.ts';
import { acceptedVersions } from '../../contract/version.ts';
import { shown } from '../quoting.ts';

/** Throws `unsupported_api_version` when the client requests another version. */
export function rejectOtherVersion({ 'api-version': version }: IncomingHttpHeaders): void {
  if (version !== undefined && !acceptedVersions.has(String(version))) {
    throw new ApiError('unsupported_api_version', `API-Version ${shown(version)} does not exist; send 1`);
  }
}

/** Throws `not_acceptable` when the client does not accept the media type of an operation's response. */
export function rejectOtherMediaType({ accept }: IncomingHttpHeaders, mediaType = 'application/json'): void {
  if (accept && accept !== '*/*' && !accepts(accept, mediaType)) {
    throw new ApiError(
      'not_acceptable',
      `Responses are ${mediaType}, which Accept ${shown(accept)} excludes: send ${mediaType} or no Accept`,
    );
  }
}

/**
 * Whether an Accept header (RFC 9110 §12.5.1) accepts a media type; the most specific range that matches decides. A range such
 * as `application/vnd.api+json` (RFC 6839 §3.1) accepts JSON, but never excludes it.
 */
function accepts(accept: string, mediaType: string): boolean {
  // Most clients name it first, without parameters. To parse the header takes 0.5 µs and more.
  if (accept === mediaType || accept.startsWith(`${mediaType},`)) return true;
  const suffix = mediaType === 'application/json' ? '+json' : undefined;
  const ranges = ['*/*', mediaType.replace(/\/.*/, '/*'), suffix, mediaType];
  let bestSpecificity = -1;
  let accepted = false;
  for (const range of accept.toLowerCase().split(',')) {
    const [type = '', ...parameters] = range.split(';').map(part => part.trim());
    const isRelated = suffix !== undefined && type.endsWith(suffix);
    const specificity = ranges.indexOf(isRelated ? suffix : type);
    const isExcluded = parameters.some(parameter => /^q=0(\.0{0,3})?$/.test(parameter));
    if (specificity <= bestSpecificity || (isRelated && isExcluded)) continue;
    bestSpecificity = specificity;
    accepted = !isExcluded;
  }
  return accepted;
}
