import { accountRoutes } from '../access/api-keys/account-routes.ts';
import { apiKeyRoutes } from '../access/api-keys/api-key-routes.ts';
import { categoryRoutes } from '../catalog/categories/category-routes.ts';
import { petRoutes } from '../catalog/pets/pet-routes.ts';
import type { Route } from '../contract/define-route.ts';
import { eventRoutes } from '../events/event-routes.ts';
import { deliveryRoutes } from '../events/webhooks/delivery-routes.ts';
import { webhookRoutes } from '../events/webhooks/webhook-routes.ts';
import { inventoryRoutes } from '../inventory/inventory-routes.ts';
import { orderRoutes } from '../orders/order-routes.ts';
import { serviceRoutes } from './service-routes.ts';
import type { RouteServices } from './services.ts';

/** Every operation of the service, in the order of the contract. */
export const routes: readonly Route<RouteServices>[] = [
  ...petRoutes,
  ...categoryRoutes,
  ...orderRoutes,
  ...inventoryRoutes,
  ...accountRoutes,
  ...apiKeyRoutes,
  ...eventRoutes,
  ...webhookRoutes,
  ...deliveryRoutes,
  ...serviceRoutes,
];
