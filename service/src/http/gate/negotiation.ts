import type { IncomingHttpHeaders } from 'node:http';
import { ApiError } from '../../contract/errors.ts';
import { shown } from '../quoting.ts';

/** The version of the interface, as every response says it. */
export const API_VERSION = '1.0.0';

const ACCEPTED_VERSIONS = new Set(['1', '1.0', API_VERSION]);

/** Throws unless the version that the caller asks for is this one. */
export function rejectOtherVersion({ 'api-version': version }: IncomingHttpHeaders): void {
  if (version !== undefined && !ACCEPTED_VERSIONS.has(String(version))) {
    throw new ApiError('unsupported_api_version', `API-Version ${shown(version)} does not exist; send 1`);
  }
}

/** Throws when the caller does not take the form in which an operation answers. */
export function rejectOtherForm({ accept }: IncomingHttpHeaders, mediaType = 'application/json'): void {
  if (accept && accept !== '*/*' && !accepts(accept, mediaType)) {
    throw new ApiError('not_acceptable', `Answers are ${mediaType}, which Accept ${shown(accept)} rules out`);
  }
}

/** The most texts of Accept that are kept for a form, and the most characters of each: clients send few different ones. */
const MOST_KEPT = 100;
const MOST_KEPT_LENGTH = 200;

/** What Accept headers were found to mean, by form and text: to read the one that axios sends takes half a microsecond. */
const known = new Map<string, Map<string, boolean>>();

function accepts(accept: string, mediaType: string): boolean {
  let texts = known.get(mediaType);
  if (texts === undefined) {
    texts = new Map();
    known.set(mediaType, texts);
  }
  let accepted = texts.get(accept);
  if (accepted === undefined) {
    accepted = letsThrough(accept, mediaType);
    if (texts.size >= MOST_KEPT) texts.clear();
    if (accept.length <= MOST_KEPT_LENGTH) texts.set(accept, accepted);
  }
  return accepted;
}

/** Whether an Accept header (RFC 9110 §12.5.1) lets a form through; the most specific range that matches decides. */
function letsThrough(accept: string, mediaType: string): boolean {
  const ranges = ['*/*', mediaType.replace(/\/.*/, '/*'), mediaType];
  let bestSpecificity = -1;
  let accepted = false;
  for (const range of accept.toLowerCase().split(',')) {
    const [type = '', ...parameters] = range.split(';').map(part => part.trim());
    const specificity = ranges.indexOf(type);
    if (specificity <= bestSpecificity) continue;
    bestSpecificity = specificity;
    accepted = !parameters.some(parameter => /^q=0(\.0{0,3})?$/.test(parameter));
  }
  return accepted;
}
