import type { Services } from '../contract/define-route.ts';
import type { EventTail } from './event-log/event-tail.ts';
import type { WebhookDispatcher } from './webhooks/dispatcher.ts';
import type { Endpoints } from './webhooks/endpoints.ts';
import type { ReadStandings } from './webhooks/owners.ts';

/** What the operations on events are given beside what all are. */
export interface EventServices extends Services {
  tail: EventTail;
  endpoints: Endpoints;
  dispatcher: WebhookDispatcher;
  readStandings: ReadStandings;
  webhooksPerKey: number;
  caller: { keyId: number; scopes: ReadonlySet<string> } | undefined;
}
