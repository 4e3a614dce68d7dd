import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../app/root.tsx';
import type { EventFilter } from '../../data/event-log.ts';

/** Reads the filters of a URL, and ignores what they cannot be. */
function readFilter(search: Record<string, unknown>): EventFilter {
  const filter: EventFilter = {};
  for (const name of ['type', 'subject', 'from', 'to'] as const) {
    const text = String(search[name] ?? '').trim();
    const isTime = name === 'from' || name === 'to';
    if (text && !(isTime && Number.isNaN(Date.parse(text)))) filter[name] = text;
  }
  return filter;
}

const listRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/events',
  validateSearch: readFilter,
  component: lazyRouteComponent(() => import('./events.tsx'), 'Events'),
});

const eventRoute = createRoute({
  getParentRoute: () => listRoute,
  path: '/$eventId',
  component: lazyRouteComponent(() => import('./events.tsx'), 'EventPanel'),
});

export const eventsRoutes = listRoute.addChildren([eventRoute]);
