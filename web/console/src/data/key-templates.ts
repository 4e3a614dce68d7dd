import type { ApiKey } from '@petstore/client';
import { scopeNames } from './key-words.ts';

export interface KeyTemplate {
  title: string;
  plan: ApiKey['plan'];
  scopes: ApiKey['scopes'];
}

/** What people and programs of a shop need. */
export const keyTemplates: readonly KeyTemplate[] = [
  {
    title: 'Cashier',
    plan: 'business',
    scopes: ['pets:read', 'orders:read', 'orders:write', 'inventory:read', 'inventory:write', 'events:read'],
  },
  {
    title: 'Warehouse',
    plan: 'business',
    scopes: ['pets:read', 'pets:write', 'orders:read', 'inventory:read', 'inventory:write', 'events:read'],
  },
  {
    title: 'Web shop',
    plan: 'pro',
    scopes: ['pets:read', 'orders:read', 'orders:write', 'inventory:read', 'events:read', 'webhooks:write'],
  },
  { title: 'Supplier', plan: 'free', scopes: ['pets:read', 'inventory:read', 'inventory:write'] },
  { title: 'Read only', plan: 'pro', scopes: ['pets:read', 'orders:read', 'inventory:read', 'events:read'] },
];

/** The template with exactly these scopes. */
export function templateOf(scopes: ApiKey['scopes']): KeyTemplate | undefined {
  const wanted = new Set(scopes);
  return keyTemplates.find(({ scopes }) => new Set(scopes).symmetricDifference(wanted).size === 0);
}

/** What a key may do, in a few words. */
export function rightsInWords(scopes: ApiKey['scopes']): string {
  if (scopes.includes('admin')) return 'Everything';
  return (
    templateOf(scopes)?.title ?? (scopes.length === 1 ? scopeNames[scopes[0]!] : `${scopes.length} rights`)
  );
}
