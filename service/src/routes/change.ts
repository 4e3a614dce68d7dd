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

/** No field of a patch is one that the resource lacks. */
type Patched<Current, Patch> = Current & Record<Exclude<keyof Patch, keyof Current>, never>;

/** What a patch makes of a resource: a field that a patch can remove may be missing afterwards. */
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

/** What a PATCH makes of the current state: the body merged into it (RFC 7396), provided that the caller's conditions hold. */
export function merged<Patch extends object>({ guard, body }: Change<Patch>) {
  return <Current extends object>(current: Patched<Current, Patch>): Merged<Current, Patch> => {
    guard(current);
    return mergePatch(current, body) as Merged<Current, Patch>;
  };
}
