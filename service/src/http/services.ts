import type { AccessServices } from '../access/api-keys/access-services.ts';
import type { Counters } from '../counters/counters.ts';
import type { ContractDocument } from './openapi/document.ts';

/** All that the handlers of the route table are given. */
export interface RouteServices extends AccessServices {
  contract: ContractDocument;
  counters: Counters;
}
