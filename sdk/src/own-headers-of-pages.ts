/** Replaces `own-headers.ts` in bundles for browsers, by the field `browser` of the package: pages send no `User-Agent`. */
export const ownHeaders: Record<string, string | undefined> = { 'API-Version': '1' };
