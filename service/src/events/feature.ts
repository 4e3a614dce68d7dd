import type { Queries, Writer } from '../db/database.ts';
import { DAY } from '../kit/clock.ts';
import type { Feature } from '../routes/feature.ts';
import type { Checkpoints } from './checkpoints.ts';
import type { EventUnion } from './event-log/event-kind.ts';
import * as eventLog from './event-log/event-log.ts';
import type { ReadKeyNames } from './event-log/history.ts';
import { eventRoutes } from './event-routes.ts';
import { historyRoutes } from './history-routes.ts';
import { sealRoutes } from './seal-routes.ts';
import { deliveryRoutes } from './webhooks/delivery-routes.ts';
import type { WebhookDispatcher } from './webhooks/dispatcher.ts';
import { sweepSlice } from './webhooks/sweep.ts';
import { type WebhookServices, webhookRoutes } from './webhooks/webhook-routes.ts';

export interface EventOptions extends Omit<WebhookServices, 'event'> {
  dispatcher: WebhookDispatcher;
  db: Queries & Writer;
  /** For how many days events are retained. */
  eventDays: number;
  readKeyNames: ReadKeyNames;
  checkpoints: Checkpoints;
}

/** The log of events, the streams that follow it, and webhooks. `event` is the schema of events. */
export function eventsFeature(services: EventOptions, event: EventUnion): Feature {
  const options = { ...services, event };
  const { db, tail, dispatcher, eventDays, checkpoints } = options;
  const expiredBefore = (now: number) => now - eventDays * DAY;
  return {
    routes: [
      ...eventRoutes(options),
      ...historyRoutes(options),
      ...sealRoutes(),
      ...webhookRoutes(options),
      ...deliveryRoutes(options),
    ],
    start: () => {
      checkpoints.start();
      return dispatcher.start();
    },
    sweeps: {
      events: now => eventLog.expire(db, expiredBefore(now)),
      webhooks: now => sweepSlice(db, { before: expiredBefore(now), now }),
    },
    close: async () => {
      await dispatcher.close();
      await tail.close();
    },
  };
}
