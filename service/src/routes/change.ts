import { mergePatch } from '../kit/merge-patch.ts';
import type { Context } from './context.ts';

type Change<Body> = Pick<Context<unknown, unknown, Body>, 'guard' | 'body'>;

/** What a PUT makes of the current state: the body, provided that the caller's conditions hold. */
export function replacement<Body>({ guard, body }: Change<Body>): (current: object) => Body {
  return current => {
    guard(current);
    return body;
  };
}

/** What a PATCH makes of the current state: the body merged into it (RFC 7396), provided that the caller's conditions hold. */
export function merged({
  guard,
  body,
}: Change<object>): <Current extends object>(current: Current) => Current {
  return current => {
    guard(current);
    return mergePatch(current, body);
  };
}
