import { keyBanEvents, keyEvents } from './access/api-keys/key-events.ts';
import { type AccessOptions, accessFeature } from './access/feature.ts';
import { keyExpiryEvents } from './access/key-warnings/expiry-warning.ts';
import { keyQuotaEvents } from './access/key-warnings/quota-warning.ts';
import { keyLeakEvents } from './access/leaked-keys/leak.ts';
import { planRequestEvents } from './access/plan-requests/plan-request.ts';
import { rejectionEvents } from './access/rejections/rejections.ts';
import { batchRoutes } from './batches/batch-routes.ts';
import { categoryEvents } from './catalog/categories/category.ts';
import { categoryRoutes } from './catalog/categories/category-routes.ts';
import { inventoryEvents, petEvents } from './catalog/pets/pet-events.ts';
import { petRoutes } from './catalog/pets/pet-routes.ts';
import { SearchIndex, type SearchIndexOptions } from './catalog/pets/search/search-index.ts';
import { eventUnion } from './events/event-log/event-kind.ts';
import { restoredEvents } from './events/event-log/restored-events.ts';
import { serviceEvents } from './events/event-log/service-events.ts';
import { type EventOptions, eventsFeature } from './events/feature.ts';
import {
  webhookEvents,
  webhookRedeliveryEvents,
  webhookReplayEvents,
  webhookTestEvents,
} from './events/webhooks/webhook-events.ts';
import type { Idempotency } from './http/idempotency.ts';
import { type ServiceState, serviceRoutes } from './http/service-routes.ts';
import { inventoryRoutes } from './inventory/inventory-routes.ts';
import { orderEvents } from './orders/order.ts';
import { orderRoutes } from './orders/order-routes.ts';
import type { Route } from './routes/define-route.ts';
import type { Feature } from './routes/feature.ts';

export interface FeatureServices extends AccessOptions, EventOptions, SearchIndexOptions, ServiceState {
  db: AccessOptions['db'] & SearchIndexOptions['db'];
  idempotency: Idempotency;
}

/** The schema of events of every kind. */
const event = eventUnion([
  petEvents,
  categoryEvents,
  orderEvents,
  inventoryEvents,
  keyEvents,
  keyBanEvents,
  keyLeakEvents,
  keyQuotaEvents,
  keyExpiryEvents,
  planRequestEvents,
  webhookEvents,
  webhookReplayEvents,
  webhookRedeliveryEvents,
  webhookTestEvents,
  rejectionEvents,
  serviceEvents,
  restoredEvents,
]);

/** Every feature of the service, in the order of the contract. */
export function featuresOf(services: FeatureServices): Feature[] {
  const { idempotency } = services;
  const searchIndex = new SearchIndex(services);
  const shop = [...petRoutes(searchIndex), ...categoryRoutes(), ...orderRoutes(), ...inventoryRoutes()];
  const others: Feature[] = [
    accessFeature(services),
    eventsFeature(services, event),
    { routes: serviceRoutes(services) },
  ];
  return [
    { routes: shop },
    { routes: batchRoutes(shop, routesOf(others)) },
    ...others,
    {
      routes: [],
      start: () => searchIndex.start(),
      sweeps: {
        'idempotency keys': now => idempotency.sweep(now),
        'search words': () => searchIndex.sweep(),
      },
    },
  ];
}

export function routesOf(features: readonly Feature[]): Route[] {
  return features.flatMap(({ routes }) => routes);
}
