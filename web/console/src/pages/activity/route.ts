import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '../../app/lazy-page.tsx';
import { rootRoute } from '../../app/root.tsx';
import type { ActivityFilter } from '../../data/activity.ts';

/** Reads the filters of a URL, and ignores what they cannot be. */
function readFilter(search: Record<string, unknown>): ActivityFilter {
  const filter: ActivityFilter = {};
  for (const name of ['type', 'subject', 'actor', 'from', 'to'] as const) {
    const text = String(search[name] ?? '').trim();
    const isTime = name === 'from' || name === 'to';
    if (text && !(isTime && Number.isNaN(Date.parse(text)))) filter[name] = text;
  }
  return filter;
}

const listRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/activity',
  validateSearch: readFilter,
  component: lazyPage(() => import('./activity.tsx'), 'ActivityPage'),
});

const entryRoute = createRoute({
  getParentRoute: () => listRoute,
  path: '/$eventId',
  component: lazyPage(() => import('./activity.tsx'), 'EntryPanel'),
});

export const activityRoutes = listRoute.addChildren([entryRoute]);
