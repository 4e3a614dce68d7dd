import { type Scope, scopeNames } from './scopes.ts';

export const keyKinds = ['secret', 'publishable', 'test'] as const;

export type KeyKind = (typeof keyKinds)[number];

/** The scopes that a key of each kind can have. A constraint of the table `api_keys` repeats them. */
export const possibleScopes: Record<KeyKind, readonly Scope[]> = {
  secret: scopeNames,
  publishable: ['pets:read', 'inventory:read'],
  test: scopeNames.filter(scope => scope !== 'admin' && scope !== 'webhooks:write'),
};

/** Whether a key of this kind can have the scope. */
export function canHave(kind: KeyKind, scope: Scope): boolean {
  return possibleScopes[kind].includes(scope);
}
