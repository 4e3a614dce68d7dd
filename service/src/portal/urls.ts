/** Where the portal lives on the service. */
export const REFERENCE_URL = '/docs';
export const GUIDE_URL = '/docs/guide';
export const ASSETS_URL = '/docs/assets';

/** The part of a URL that names an operation inside the reference: `#/API%20keys/listApiKeys`. */
export function operationFragment(tag: string, operationId: string): string {
  return `#/${encodeURIComponent(tag)}/${encodeURIComponent(operationId)}`;
}

/** The URL that opens an operation in the reference. */
export function operationUrl(tag: string, operationId: string): string {
  return REFERENCE_URL + operationFragment(tag, operationId);
}
