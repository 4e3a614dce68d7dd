import type { Queries } from '../../db/database.ts';
import { selectBacklog } from './delivery-queries.ts';

/** The maximum number of pending deliveries that are counted; the help text of the metric states this number. */
const MAX_COUNTED = 10_000;

/** The maximum number of webhooks whose oldest delivery is read: each takes one look-up in an index. */
const MAX_WEBHOOKS = 1_000;

/** The deliveries of enabled webhooks that are not finished. */
export interface WebhookBacklog {
  /** `MAX_COUNTED` at most. */
  pending: number;
  /** How long ago the oldest of them was planned, in milliseconds; 0 if there is none. */
  oldestAge: number;
}

/** `now` is in milliseconds since the Unix epoch. */
export async function readBacklog(db: Queries, now: number): Promise<WebhookBacklog> {
  const { pending, oldest } = await selectBacklog(db, { deliveries: MAX_COUNTED, webhooks: MAX_WEBHOOKS });
  return { pending, oldestAge: oldest === null ? 0 : Math.max(0, now - oldest) };
}
