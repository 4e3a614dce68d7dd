import type { Account } from '@petstore/client';
import type { IconName } from '../kit/icon.tsx';

export interface PageEntry {
  path:
    | '/'
    | '/animals'
    | '/categories'
    | '/orders'
    | '/stock'
    | '/keys'
    | '/webhooks'
    | '/events'
    | '/import';
  title: string;
  icon: IconName;
  /** The page is offered to keys with this scope. */
  scope: Account['scopes'][number];
}

/** The pages of the navigation, in its order. Their routes are in `router.tsx`. */
export const pages: readonly PageEntry[] = [
  { path: '/', title: 'Today', icon: 'today', scope: 'pets:read' },
  { path: '/animals', title: 'Animals', icon: 'paw', scope: 'pets:read' },
  { path: '/orders', title: 'Orders', icon: 'orders', scope: 'orders:read' },
  { path: '/stock', title: 'Stock', icon: 'stock', scope: 'inventory:read' },
  { path: '/categories', title: 'Categories', icon: 'tag', scope: 'pets:read' },
  { path: '/import', title: 'Import', icon: 'upload', scope: 'pets:write' },
  { path: '/events', title: 'Events', icon: 'events', scope: 'events:read' },
  { path: '/webhooks', title: 'Webhooks', icon: 'webhook', scope: 'webhooks:write' },
  { path: '/keys', title: 'Keys', icon: 'key', scope: 'admin' },
];
