import { inCode } from '../kit/text.ts';

/** The permissions of API keys. `admin` includes all others. */
export const scopes = {
  'pets:read': 'Read pets and categories',
  'pets:write': 'Create, change and delete pets and categories',
  'orders:read': 'Read orders',
  'orders:write': 'Place, change, complete and cancel orders',
  'inventory:read': 'Read stock',
  'inventory:write': 'Set stock',
  'events:read': 'Read the events of what the key may read',
  'webhooks:write': 'Create, change and delete webhooks, and see their deliveries',
  admin: 'Everything, including API keys',
} as const;

export type Scope = keyof typeof scopes;

export const scopeNames = Object.keys(scopes) as Scope[];

/** Returns the scopes among `needed` that a key lacks. */
export function missingScopes(needed: readonly Scope[], held: ReadonlySet<Scope>): Scope[] {
  return held.has('admin') ? [] : needed.filter(scope => !held.has(scope));
}

/** Returns scopes, at least one, as the end of a sentence: `scope \`pets:read\``, or `scopes \`pets:read\` and \`orders:read\``. */
export function scopesInWords(scopes: readonly Scope[]): string {
  return `scope${scopes.length > 1 ? 's' : ''} ${inCode(scopes)}`;
}
