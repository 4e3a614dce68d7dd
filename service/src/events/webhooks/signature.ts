import { createHmac, randomBytes } from 'node:crypto';

const PREFIX = 'whsec_';

/** The number of random bytes in a secret; Standard Webhooks 1.0.0 requires 24 to 64. */
const SECRET_BYTES = 32;

export function newSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

export interface Message {
  /** The same each time an event is sent to a webhook, so that the receiver can detect duplicates. */
  id: string;
  /** When the message is sent, in whole Unix seconds. */
  timestamp: number;
  body: string;
  /** The header of W3C Trace Context; `undefined` if the message is not part of a trace. It is not signed. */
  traceparent: string | undefined;
}

/** Returns the header `webhook-signature` (Standard Webhooks 1.0.0), with one signature for each valid secret. */
export function signatures(
  secrets: readonly string[],
  { id, timestamp, body }: Omit<Message, 'traceparent'>,
): string {
  return secrets
    .map(secret => Buffer.from(secret.slice(PREFIX.length), 'base64'))
    .map(key => createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64'))
    .map(signature => `v1,${signature}`)
    .join(' ');
}
