import type { Route } from '../../src/routes/define-route.ts';
import { filled } from './operations.ts';

/** The scopes that the key needs, all of them; empty when any key is accepted. */
export function scopesOf({ scope }: Route): readonly string[] {
  return scope === null || scope === 'any' ? [] : [scope].flat();
}

export function isStream({ success }: Route): boolean {
  return success.mediaType === 'text/event-stream';
}

/**
 * The path of an operation for resources that do not exist. A stream gets a cursor that it rejects, because it would
 * not end.
 */
export function pathToNothing(route: Route): string {
  return filled(route.path, 77) + (isStream(route) ? '?cursor=none' : '');
}

/** The example body of an operation; `undefined` when it accepts none. */
export function exampleBody({ body, example }: Route): object | undefined {
  return body && ((example ?? body.example) as object);
}
