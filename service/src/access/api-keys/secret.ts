import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { randomBase62, toBase62 } from '../../kit/ids.ts';

/**
 * The text of an API key: `psk_`, 32 random base62 characters (190 bits), and the CRC-32 of what precedes in 6 base62
 * characters. The checksum rejects mistyped keys without a look-up and lets leaked ones be scanned for.
 */
const FORM = /^psk_[0-9A-Za-z]{38}$/;
const CHECKED = 'psk_'.length + 32;

export function newSecret(): string {
  const checked = `psk_${randomBase62(32)}`;
  return checked + checksum(checked);
}

export function isWellFormed(secret: string): boolean {
  return FORM.test(secret) && checksum(secret.slice(0, CHECKED)) === secret.slice(CHECKED);
}

/** SHA-256, the only form in which a key is kept. A plain hash will do: the key is random, not a password. */
export function hashOf(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

/** `text` with the keys in it, or their beginnings, blotted out: for what repeats words of the caller. */
export function withoutSecrets(text: string): string {
  return text.replace(/psk_[0-9A-Za-z]+/g, 'psk_…');
}

function checksum(text: string): string {
  return toBase62(crc32(text), 6);
}
