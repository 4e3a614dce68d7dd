import type { Span, Tracing } from '../../kit/tracing.ts';
import { traceOfEvent } from '../event-log/event.ts';
import type { Outcome } from './attempt.ts';
import type { LeasedDelivery } from './delivery-queries.ts';
import type { WebhookRow } from './webhook-queries.ts';

/**
 * Starts the span of an attempt, in the trace of its event. The span has only the origin of the URL, because path and query
 * can contain a token (semantic conventions for HTTP, `url.full`).
 */
export function beginAttemptSpan(tracing: Tracing, { url }: WebhookRow, delivery: LeasedDelivery): Span {
  const { origin, protocol, hostname, port } = new URL(url);
  return tracing.begin('POST', {
    kind: 'client',
    parent: traceOfEvent(delivery.payload),
    attributes: {
      'http.request.method': 'POST',
      'http.request.resend_count': delivery.attempts || undefined,
      'url.full': `${origin}/REDACTED`,
      'server.address': hostname,
      'server.port': Number(port) || (protocol === 'https:' ? 443 : 80),
      'cloudevents.event_id': String(delivery.event_id),
      'cloudevents.event_type': delivery.type,
      'cloudevents.event_subject': delivery.subject,
      'petstore.webhook.id': delivery.webhook_id,
      'petstore.delivery.id': delivery.id,
    },
  });
}

/** The outcome of an aborted attempt is `undefined`. */
export function endAttemptSpan(span: Span, outcome: Outcome | undefined): void {
  span.set({ 'http.response.status_code': outcome?.status ?? undefined });
  if (!outcome) span.end('aborted');
  else span.end(outcome.error === null ? undefined : String(outcome.status ?? '_OTHER'));
}
