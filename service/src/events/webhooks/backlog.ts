import type { Queries } from '../../db/database.ts';
import { type Clock, SECOND } from '../../kit/clock.ts';
import { selectBacklog } from './delivery-queries.ts';

/** The most pending deliveries that are counted; the help of the metric names it. */
const MOST_COUNTED = 10_000;

/** The most webhooks whose oldest delivery is looked for: one look-up in an index each. */
const MOST_WEBHOOKS = 1_000;

/** How long the store may take, in milliseconds: the other metrics are not to wait for a store that hangs. */
const PATIENCE = SECOND;

/** The deliveries of enabled webhooks that are not finished. */
export interface WebhookBacklog {
  /** `MOST_COUNTED` at most. */
  pending: number;
  /** How long ago the oldest of them was planned, in milliseconds; 0 when there is none. */
  oldestAge: number;
}

/** Returns what reads the backlog: one read at a time, whoever asks. It gives undefined when the store fails or is slow. */
export function backlogReader(db: Queries, clock: Clock): () => Promise<WebhookBacklog | undefined> {
  let reading: Promise<WebhookBacklog | undefined> | undefined;
  const read = async (): Promise<WebhookBacklog | undefined> => {
    try {
      const { pending, oldest } = await selectBacklog(db, {
        deliveries: MOST_COUNTED,
        webhooks: MOST_WEBHOOKS,
      });
      return { pending, oldestAge: oldest === null ? 0 : Math.max(0, clock.now() - oldest) };
    } catch {
      // The store is away: its own metric and the log say so.
      return undefined;
    } finally {
      reading = undefined;
    }
  };
  return async () => {
    reading ??= read();
    const { promise: late, resolve } = Promise.withResolvers<undefined>();
    const timer = setTimeout(resolve, PATIENCE, undefined);
    try {
      return await Promise.race([reading, late]);
    } finally {
      clearTimeout(timer);
    }
  };
}
