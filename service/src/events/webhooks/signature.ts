import { createHmac, randomBytes } from 'node:crypto';
import { secretPrefixes } from '../../contract/secret-forms.ts';

const PREFIX = secretPrefixes.webhook;

/** The number of random bytes in a secret; Standard Webhooks 1.0.0 requires 24 to 64. */
const SECRET_BYTES = 32;

export function newSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

/** Returns the header `webhook-signature` (Standard Webhooks 1.0.0), with one signature for each secret. `timestamp` is in seconds. */
export function signatures(
  secrets: readonly string[],
  { id, timestamp, body }: { id: string; timestamp: number; body: string },
): string {
  return secrets
    .map(secret => Buffer.from(secret.slice(PREFIX.length), 'base64'))
    .map(key => createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64'))
    .map(signature => `v1,${signature}`)
    .join(' ');
}
