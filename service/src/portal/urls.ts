import { fragmentOf } from '../../../web/portal/operation-list.js';

/** Paths of the portal. */
export const REFERENCE_URL = '/docs';
export const GUIDE_URL = '/docs/guide';
export const ASSETS_URL = '/docs/assets';

/** The URL that opens an operation in the reference. */
export function operationUrl(tag: string, operationId: string): string {
  return REFERENCE_URL + fragmentOf(tag, operationId);
}
