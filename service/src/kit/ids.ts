import { randomBytes, randomUUID } from 'node:crypto';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** The largest ID the service assigns: beyond it a JSON number is no longer exact in every client. */
export const MAX_ID = Number.MAX_SAFE_INTEGER;

/** `length` uniformly random base62 characters. Bytes of 248 and above are dropped: 256 is no multiple of 62. */
export function randomBase62(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < 248 && text.length < length) text += BASE62[byte % 62];
    }
  }
  return text;
}

/** `value` (a non-negative integer) in base62, left-padded with `0` to `width` characters. */
export function toBase62(value: number, width: number): string {
  let text = '';
  for (let rest = value; text.length < width; rest = Math.floor(rest / 62)) text = BASE62[rest % 62] + text;
  return text;
}

const REQUEST_ID = /^[A-Za-z0-9._~:/+=-]{1,128}$/;

/** The caller's request ID when it is well-formed (so that it cannot forge log lines), otherwise a new UUID. */
export function requestIdFrom(header: string | string[] | undefined): string {
  return typeof header === 'string' && REQUEST_ID.test(header) ? header : randomUUID();
}
