import type { Services } from '../contract/define-route.ts';
import type { EventTail } from './event-log/event-tail.ts';

/** What the operations on events are given beside what all are. */
export interface EventServices extends Services {
  tail: EventTail;
  caller: { scopes: ReadonlySet<string> } | undefined;
}
