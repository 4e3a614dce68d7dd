import { KIB } from '../kit/quantities.ts';

/** The most bytes of a request body. */
export const BODY_LIMIT = 64 * KIB;

/** The most bytes of a request target. A character is one byte, because node:http rejects targets that are not ASCII. */
export const TARGET_LIMIT = 8 * KIB;

/** The most bytes of a request line and its headers together. */
export const HEADERS_LIMIT = 16 * KIB;
