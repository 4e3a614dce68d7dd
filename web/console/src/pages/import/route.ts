import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../app/lazy-page.tsx';
import { rootRoute } from '../../app/root.tsx';

export const importRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/import',
  component: lazyPage(() => import('./import.tsx'), 'Import'),
});
