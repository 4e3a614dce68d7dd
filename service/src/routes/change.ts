import { mergePatch } from '../kit/merge-patch.ts';
import type { Context } from './context.ts';

type Change<Body> = Pick<Context<unknown, unknown, Body>, 'guard' | 'body'>;

/** Returns a function from the current state to that after a PUT: the body. It throws if the request's conditions fail. */
export function replacement<Body>({ guard, body }: Change<Body>): (current: object) => Body {
  return current => {
    guard(current);
    return body;
  };
}

/** Rejects patches at compile time that have a field that the resource does not have. */
type Patched<Current, Patch> = Current & Record<Exclude<keyof Patch, keyof Current>, never>;

/** A resource after a patch: a field that the patch can remove is optional. */
type Merged<Current, Patch> = Omit<Current, keyof Patch> & {
  [F in keyof Current & keyof Patch as null extends Patch[F] ? never : F]:
    | Current[F]
    | Exclude<Patch[F], undefined>;
} & {
  [F in keyof Current & keyof Patch as null extends Patch[F] ? F : never]?: Exclude<
    Current[F] | Patch[F],
    null | undefined
  >;
};

/** Returns a function from the current state to that after a PATCH (RFC 7396). It throws if the request's conditions fail. */
export function merged<Patch extends object>({ guard, body }: Change<Patch>) {
  return <Current extends object>(current: Patched<Current, Patch>): Merged<Current, Patch> => {
    guard(current);
    return mergePatch(current, body) as Merged<Current, Patch>;
  };
}
