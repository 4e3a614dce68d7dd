import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../app/lazy-page.tsx';
import { rootRoute } from '../../app/root.tsx';
import { type DeliveryQuery, deliveryStatuses } from '../../data/webhooks.ts';

const listRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/webhooks',
  component: lazyPage(() => import('./webhooks.tsx'), 'Webhooks'),
});

const newRoute = createRoute({
  getParentRoute: () => listRoute,
  path: '/new',
  component: lazyPage(() => import('./webhooks.tsx'), 'NewWebhook'),
});

const webhookRoute = createRoute({
  getParentRoute: () => listRoute,
  path: '/$webhookId',
  component: lazyPage(() => import('./webhooks.tsx'), 'EditWebhook'),
});

export const webhooksRoutes = listRoute.addChildren([newRoute, webhookRoute]);

/** A page of its own, because a webhook can have thousands of deliveries. */
const deliveriesRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/webhooks/$webhookId/deliveries',
  validateSearch: (search: Record<string, unknown>): Omit<DeliveryQuery, 'webhookId'> => {
    const status = deliveryStatuses.find(status => status === search.status);
    return status ? { status } : {};
  },
  component: lazyPage(() => import('./deliveries.tsx'), 'Deliveries'),
});

const deliveryRoute = createRoute({
  getParentRoute: () => deliveriesRoute,
  path: '/$deliveryId',
  component: lazyPage(() => import('./deliveries.tsx'), 'DeliveryPanel'),
});

export const deliveriesRoutes = deliveriesRoute.addChildren([deliveryRoute]);
