import type { DeliveryRow, LeasedDelivery } from '../../src/events/webhooks/delivery-queries.ts';
import { type Ended, LEASE, type Outcome } from '../../src/events/webhooks/delivery-rules.ts';
import type { WebhookRow } from '../../src/events/webhooks/webhook-queries.ts';

export const NOW = Date.parse('2026-11-21T12:00:00Z');

export const webhook: WebhookRow = {
  ...{ id: 1, api_key_id: 2, url: 'https://hooks.example/', types: null, description: null, enabled: 1 },
  ...{ disabled_reason: null, disabled_at: null, secret: '', previous_secret: null, position: 0 },
  ...{ previous_secret_expires_at: null, replay_until: null, failing_since: null, created_at: NOW },
  deleted_at: null,
};

export function leased(row: Partial<DeliveryRow> = {}): LeasedDelivery {
  return {
    ...{
      id: 1,
      webhook_id: 1,
      event_id: 1,
      type: 'category.created',
      subject: 'categories/1',
      payload: '{}',
    },
    ...{ status: 'pending', attempts: 0, failures: 0, created_at: NOW, finished_at: null },
    ...{ next_attempt_at: NOW + LEASE, ...row, leased_until: row.leased_until ?? NOW + LEASE },
  };
}

export function outcome(status: number | null, more: Partial<Outcome> = {}): Outcome {
  const error = status !== null && status < 300 ? null : `Status ${status}`;
  const result = error === null ? 'delivered' : 'rejected';
  return { result, status, retryAfter: undefined, error, responseStart: null, duration: 10, ...more };
}

export function ended(delivery: LeasedDelivery, status: number | null, more: Partial<Outcome> = {}): Ended {
  return { delivery, attempted: { startedAt: NOW, outcome: outcome(status, more), random: 0.5 } };
}
