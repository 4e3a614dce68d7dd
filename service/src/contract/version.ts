/** The version of the API, as every response states it. */
export const API_VERSION = '1.0.0';

/** The values of the header `API-Version` that the service accepts. */
export const acceptedVersions: ReadonlySet<string> = new Set(['1', '1.0', API_VERSION]);
