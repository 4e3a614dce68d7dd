import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { KeyKind } from '../../contract/key-kinds.ts';
import { secretPrefixes } from '../../contract/secret-forms.ts';
import { randomBase62, toBase62 } from '../../kit/ids.ts';

/**
 * The secret of an API key: `psk_`, or `psk_pub_` for a publishable and `psk_test_` for a test key, then 32 random base62
 * characters (190 bits), and the CRC-32 of the text before it in 6 base62 characters. With the checksum, mistyped keys are rejected without a look-up, and
 * scanners can find leaked keys.
 */
const FORM = `${secretPrefixes.key}(?:pub_|test_)?[0-9A-Za-z]{38}`;
const SECRET = new RegExp(`^${FORM}$`);
const SECRET_IN_TEXT = new RegExp(`(?<!\\w)${FORM}(?!\\w)`);
const CHECKSUM_LENGTH = 6;

const prefixes: Record<KeyKind, string> = {
  secret: secretPrefixes.key,
  publishable: `${secretPrefixes.key}pub_`,
  test: `${secretPrefixes.key}test_`,
};

export function newSecret(kind: KeyKind = 'secret'): string {
  const checked = prefixes[kind] + randomBase62(32);
  return checked + checksum(checked);
}

/** Whether a text has the form of a secret; its checksum may be wrong. */
export function hasForm(text: string): boolean {
  return SECRET.test(text);
}

/** Whether a text has the form of a secret between other characters, such as quotes. */
export function containsForm(text: string): boolean {
  return SECRET_IN_TEXT.test(text);
}

export function isWellFormed(secret: string): boolean {
  return hasForm(secret) && checksum(secret.slice(0, -CHECKSUM_LENGTH)) === secret.slice(-CHECKSUM_LENGTH);
}

/** Whether a text is the well-formed secret of a key that is not public, even if no such key exists. */
export function isSecretKey(text: string): boolean {
  return isWellFormed(text) && !text.startsWith(prefixes.publishable);
}

/** Whether a text begins as the secrets of test keys, and only they, do. */
export function isTestKey(text: string): boolean {
  return text.startsWith(prefixes.test);
}

/** Returns the SHA-256 of a secret, the only form in which it is stored. A plain hash is enough, because secrets are random. */
export function hashOf(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

function checksum(text: string): string {
  return toBase62(crc32(text), CHECKSUM_LENGTH);
}
