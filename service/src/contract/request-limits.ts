import { KIB } from '../kit/quantities.ts';

/** The most bytes that a request body may have. */
export const BODY_LIMIT = 64 * KIB;

/** The most bytes that a request target may have. It is ASCII: node:http rejects any other. */
export const TARGET_LIMIT = 8 * KIB;

/** The most bytes that a request line and its headers may have together. */
export const HEADERS_LIMIT = 16 * KIB;
