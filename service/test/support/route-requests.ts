import type { Method } from '../../src/contract/operation.ts';
import { scopeNames } from '../../src/contract/scopes.ts';
import { describedRoutes } from '../../src/described-routes.ts';
import type { Route } from '../../src/routes/define-route.ts';
import { filled } from './operations.ts';

/**
 * An operation as its definition states it. Tests generate requests from definitions, so they cannot miss an operation.
 */
export interface DefinedOperation {
  route: Route;
  operationId: string;
  method: Method;
  /** For example `/pets/{petId}`. */
  template: string;
  /** Whether a valid API key is needed. */
  needsKey: boolean;
  /** The scopes that the key needs, all of them; empty when any key is accepted. */
  scopes: readonly string[];
  /** Scopes of which the key needs at least one in addition; empty when it needs none. */
  anyOf: readonly string[];
  isStream: boolean;
}

export const definedOperations: readonly DefinedOperation[] = describedRoutes.map(route => ({
  route,
  operationId: route.operationId,
  method: route.method,
  template: route.path,
  needsKey: route.scope !== null,
  scopes: scopesOf(route),
  anyOf: route.anyOfScopes ?? [],
  isStream: route.success.mediaType === 'text/event-stream',
}));

/** A definition names one scope or several. */
function scopesOf({ scope }: Route): string[] {
  if (scope === null || scope === 'any') return [];
  const scopes: string[] = [scope].flat();
  for (const name of scopes) {
    if (!(scopeNames as string[]).includes(name)) throw new Error(`\`${name}\` is not a scope`);
  }
  return scopes;
}

/**
 * The path of an operation for resources that do not exist. A stream gets a cursor that it rejects, because it would
 * not end.
 */
export function pathToNothing({ template, isStream }: DefinedOperation): string {
  return filled(template, 77) + (isStream ? '?cursor=none' : '');
}

/** The example body of an operation; `undefined` when it accepts none. */
export function exampleBody({ route }: DefinedOperation): object | undefined {
  return route.body && ((route.example ?? route.body.example) as object);
}
