/** The permissions of API keys. `admin` includes all others. */
export const scopes = {
  'pets:read': 'Read pets and categories',
  'pets:write': 'Create, change and delete pets and categories',
  'orders:read': 'Read orders',
  'orders:write': 'Place, change, complete and cancel orders',
  'inventory:read': 'Read stock',
  'inventory:write': 'Set stock',
  'events:read': 'Read events',
  'webhooks:write': 'Create, change and delete webhooks, and see their deliveries',
  admin: 'Everything, including API keys',
} as const;

export type Scope = keyof typeof scopes;

export const scopeNames = Object.keys(scopes) as Scope[];
