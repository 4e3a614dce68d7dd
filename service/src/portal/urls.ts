/** Paths of the portal. */
export const PORTAL_URL = '/docs';
export const GUIDE_URL = '/docs/guide';
export const ERRORS_URL = '/docs/errors';
export const EVENTS_URL = '/docs/events';
export const CLIENT_URL = '/docs/client';
export const COMMAND_URL = '/docs/command';
export const CHANGELOG_URL = '/docs/changelog';
export const STATUS_URL = '/docs/status';
export const RUNNING_URL = '/docs/running';
export const ASSETS_URL = '/docs/assets';
export const SEARCH_URL = '/docs/search.json';

/** The page of an operation. */
export function operationUrl(operationId: string): string {
  return `${PORTAL_URL}/operations/${operationId}`;
}

/** The page of a resource: the operations with a tag. */
export function resourceUrl(tag: string): string {
  return `${PORTAL_URL}/resources/${slugOf(tag)}`;
}

/** The page of a chapter of the guide. */
export function chapterUrl(title: string): string {
  return `${GUIDE_URL}/${slugOf(title)}`;
}

/** The page of a chapter for operators. */
export function runningUrl(title: string): string {
  return `${RUNNING_URL}/${slugOf(title)}`;
}

/** An error code in the catalogue. */
export function errorUrl(code: string): string {
  return `${ERRORS_URL}#${code}`;
}

/** A heading as part of a URL, as GitHub makes it: `API keys` becomes `api-keys`. */
export function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\w\s-]/g, '')
    .trim()
    .replace(/\s+/g, '-');
}
