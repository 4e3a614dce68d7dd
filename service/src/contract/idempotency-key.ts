import { DAY } from '../kit/clock.ts';

/** How long outcomes are retained and replayed, in milliseconds. */
export const RETENTION = DAY;

/** The maximum number of characters of an `Idempotency-Key`. */
export const KEY_LENGTH = 255;

/**
 * The pattern of the header: a key of printable ASCII characters as it is, or as a quoted string
 * (draft-ietf-httpapi-idempotency-key-header-07). A key without quotation marks has no white space at its ends, which HTTP removes.
 */
export const KEY_HEADER = `^([!#-~]([ -~]{0,${KEY_LENGTH - 2}}[!-~])?|"[ -~]{1,${KEY_LENGTH}}")$`;
