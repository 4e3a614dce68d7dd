import { createHmac, randomBytes } from 'node:crypto';

const PREFIX = 'whsec_';

/** How many random bytes a secret has; Standard Webhooks 1.0.0 asks for 24 to 64. */
const SECRET_BYTES = 32;

export function newSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

export interface Message {
  /** The same whenever an event is sent to a webhook, so that its receiver can tell repeats. */
  id: string;
  /** When it is sent, in whole Unix seconds. */
  timestamp: number;
  body: string;
  /** The header of W3C Trace Context; `undefined` when the message is part of no trace. It is not signed. */
  traceparent: string | undefined;
}

/** The header `webhook-signature` (Standard Webhooks 1.0.0): one signature for each secret that is valid. */
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
