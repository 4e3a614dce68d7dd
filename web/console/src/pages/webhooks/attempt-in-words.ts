import type { WebhookAttempt } from '@petstore/client';

/** `500 after 4 ms`. */
export function attemptInWords({ status, durationMs }: WebhookAttempt): string {
  return `${status ?? 'No response'} after ${durationMs.toLocaleString()} ms`;
}
