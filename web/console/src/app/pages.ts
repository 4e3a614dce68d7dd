import type { IconName } from '../kit/icon.tsx';
import type { Scope } from './session.ts';

export interface PageEntry {
  path:
    | '/'
    | '/animals'
    | '/categories'
    | '/orders'
    | '/stock'
    | '/keys'
    | '/webhooks'
    | '/activity'
    | '/import';
  title: string;
  icon: IconName;
  /** Whether it is one of the pages under "Administration". */
  isAdministration?: true;
  /** The page is offered to keys with this scope. A page without one has something for every key. */
  scope?: Scope;
  /** The scope that a key needs to create an item, in addition, if the page has a form for it at `/new`. */
  creation?: Scope;
}

/** The pages of the navigation, in its order. Their routes are in `router.tsx`. */
export const pages: readonly PageEntry[] = [
  { path: '/', title: 'Today', icon: 'today' },
  { path: '/animals', title: 'Animals', icon: 'paw', scope: 'pets:read', creation: 'pets:write' },
  { path: '/orders', title: 'Orders', icon: 'orders', scope: 'orders:read', creation: 'orders:write' },
  { path: '/stock', title: 'Stock', icon: 'stock', scope: 'inventory:read' },
  { path: '/categories', title: 'Categories', icon: 'tag', scope: 'pets:read', creation: 'pets:write' },
  { path: '/import', title: 'Import', icon: 'upload', scope: 'pets:write' },
  { path: '/activity', title: 'Activity', icon: 'events', isAdministration: true, scope: 'events:read' },
  {
    path: '/webhooks',
    title: 'Webhooks',
    icon: 'webhook',
    isAdministration: true,
    scope: 'webhooks:write',
    creation: 'events:read',
  },
  { path: '/keys', title: 'Keys', icon: 'key', isAdministration: true, scope: 'admin' },
];

/** The page of the navigation at a path, or whose panel is there. */
export function pageAt(pathname: string): PageEntry | undefined {
  return pages.find(({ path }) => (path === '/' ? pathname === path : `${pathname}/`.startsWith(`${path}/`)));
}

/** The scope that a key lacks for what is at a path, if it lacks one. */
export function missingScope(pathname: string, can: (scope: Scope) => boolean): Scope | undefined {
  const page = pageAt(pathname);
  const isCreation = page !== undefined && pathname === `${page.path}/new`;
  return [page?.scope, isCreation ? page.creation : undefined].find(scope => scope && !can(scope));
}
