import { createRouter } from '@tanstack/react-router';
import { activityRoutes } from '../pages/activity/route.ts';
import { animalsRoutes } from '../pages/animals/route.ts';
import { categoriesRoutes } from '../pages/categories/route.ts';
import { importRoute } from '../pages/import/route.ts';
import { keysRoutes } from '../pages/keys/route.ts';
import { ordersRoutes } from '../pages/orders/route.ts';
import { ownKeyRoutes } from '../pages/own-key/route.ts';
import { stockRoute } from '../pages/stock/route.ts';
import { todayRoute } from '../pages/today/route.ts';
import { deliveriesRoutes, webhooksRoutes } from '../pages/webhooks/route.ts';
import { PageError } from './page-error.tsx';
import { rootRoute } from './root.tsx';

export const router = createRouter({
  routeTree: rootRoute.addChildren([
    todayRoute,
    animalsRoutes,
    ordersRoutes,
    stockRoute,
    categoriesRoutes,
    importRoute,
    activityRoutes,
    webhooksRoutes,
    deliveriesRoutes,
    keysRoutes,
    ownKeyRoutes,
  ]),
  basepath: '/console',
  // A page's code is loaded when the pointer is on its link, unless that was done when nothing else was to do.
  defaultPreload: 'intent',
  // Only the page is replaced: the frame around it stays.
  defaultErrorComponent: PageError,
  scrollRestoration: true,
  // Without it, parameters that a page does not accept would still be part of its query.
  search: { strict: true },
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
