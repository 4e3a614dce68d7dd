import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../app/lazy-page.tsx';
import { rootRoute } from '../../app/root.tsx';

const ownKeyRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/account',
  component: lazyPage(() => import('./own-key.tsx'), 'OwnKey'),
});

const leakedRoute = createRoute({
  getParentRoute: () => ownKeyRoute,
  path: '/leaked',
  component: lazyPage(() => import('./own-key.tsx'), 'LeakOfOwnKey'),
});

export const ownKeyRoutes = ownKeyRoute.addChildren([leakedRoute]);
