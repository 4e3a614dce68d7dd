import type { AccessServices } from '../access/api-keys/access-services.ts';
import type { Caller } from '../access/api-keys/key-ring.ts';
import type { Counters } from '../counters/counters.ts';
import type { Writability } from '../db/writability.ts';
import type { EventServices } from '../events/event-services.ts';
import type { Drain } from './drain.ts';
import type { ContractDocument } from './openapi/document.ts';

/** All that the handlers of the route table are given. */
export interface RouteServices extends AccessServices, EventServices {
  caller: Caller | undefined;
  contract: ContractDocument;
  counters: Counters;
  writability: Writability;
  drain: Pick<Drain, 'hasBegun'>;
}
