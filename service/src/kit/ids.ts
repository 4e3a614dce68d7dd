import { randomBytes, randomInt } from 'node:crypto';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** The largest ID that the service assigns: larger JSON numbers are not exact in every client. */
export const MAX_ID = Number.MAX_SAFE_INTEGER;

/** `length` uniformly random base62 characters. */
export function randomBase62(length: number): string {
  return Array.from({ length }, () => BASE62[randomInt(62)]).join('');
}

/** `value` (a non-negative integer) in base62, left-padded with `0` to `width` characters. */
export function toBase62(value: number, width: number): string {
  let text = '';
  for (let rest = value; text.length < width; rest = Math.floor(rest / 62)) text = BASE62[rest % 62] + text;
  return text;
}

/** The pattern of a client's request ID. */
export const REQUEST_ID = '^[A-Za-z0-9._~:/+=-]{1,128}$';

const requestId = new RegExp(REQUEST_ID);

/** The client's request ID if it is well-formed and cannot forge log lines; otherwise a new UUID. */
export function requestIdFrom(header: string | string[] | undefined): string {
  return typeof header === 'string' && requestId.test(header) ? header : nextUuid();
}

const HEX = Buffer.from('0123456789abcdef', 'latin1');

const HYPHEN = '-'.charCodeAt(0);

const UUID_LENGTH = 36;

/** The number of UUIDs that are generated together. */
const UUIDS = 128;

let uuids = '';
let nextAt = 0;

/**
 * A random UUID (RFC 9562 §5.4). Many are generated together, as slices of one text: Node's `randomUUID` joins 20 strings for
 * each, and produces half a kilobyte of garbage.
 */
export function nextUuid(): string {
  if (nextAt === uuids.length) {
    uuids = randomUuids();
    nextAt = 0;
  }
  nextAt += UUID_LENGTH;
  return uuids.slice(nextAt - UUID_LENGTH, nextAt);
}

function randomUuids(): string {
  const text = Buffer.allocUnsafe(UUIDS * UUID_LENGTH);
  const bytes = randomBytes(UUIDS * 16);
  let at = 0;
  for (let i = 0; i < bytes.length; i++) {
    const place = i % 16;
    if (place === 4 || place === 6 || place === 8 || place === 10) text[at++] = HYPHEN;
    const byte =
      place === 6 ? (bytes[i]! & 0x0f) | 0x40 : place === 8 ? (bytes[i]! & 0x3f) | 0x80 : bytes[i]!;
    text[at++] = HEX[byte >> 4]!;
    text[at++] = HEX[byte & 15]!;
  }
  return text.toString('latin1');
}
