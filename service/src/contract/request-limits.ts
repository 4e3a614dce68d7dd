import { KIB, MIB } from '../kit/quantities.ts';

/** The maximum size of a request body, in bytes. */
export const BODY_LIMIT = 64 * KIB;

/** The same for a batch of operations. */
export const BATCH_BODY_LIMIT = MIB;

/** The maximum size of a request target, in bytes. A character is one byte: node:http rejects targets that are not ASCII. */
export const TARGET_LIMIT = 8 * KIB;

/** The maximum size of a request line and its headers together, in bytes. */
export const HEADERS_LIMIT = 16 * KIB;
