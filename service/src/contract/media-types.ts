export const MERGE_PATCH = 'application/merge-patch+json';

/** The media types of the bodies of PATCH (RFC 5789 §3.1). */
export const acceptPatch = { 'accept-patch': `${MERGE_PATCH}, application/json` } as const;
