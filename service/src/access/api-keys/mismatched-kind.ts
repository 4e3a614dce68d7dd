import { ApiError } from '../../contract/errors.ts';
import { canHave, type KeyKind, possibleScopes } from '../../contract/key-kinds.ts';
import type { Scope } from '../../contract/scopes.ts';
import { inCode } from '../../kit/text.ts';
import type { Plan } from '../plans/plan.ts';
import { rejectOtherThanOrigin } from './origins.ts';

interface KeySettings {
  kind: KeyKind;
  plan: Plan;
  scopes: readonly Scope[];
  origins?: readonly string[] | undefined;
}

/** Throws `invalid_request` when the plan, the scopes or the origins do not match the kind of a key. */
export function rejectMismatchedKind({ kind, plan, scopes, origins }: KeySettings): void {
  if (kind === 'test' && plan !== 'free') {
    throw new ApiError(
      'invalid_request',
      `Field \`plan\` of a test key must be \`free\`, because its writes are only tried out, but was \`${plan}\``,
    );
  }
  rejectImpossibleScopes(kind, scopes);
  if (kind !== 'publishable') {
    if (origins === undefined) return;
    throw new ApiError(
      'invalid_request',
      'Field `origins` is for publishable keys only: browsers cannot use another key, whatever their origin is',
    );
  }
  if (origins === undefined) {
    throw new ApiError(
      'invalid_request',
      'Field `origins` is required for a publishable key: list the origins of the pages that use it, such as ' +
        '`https://shop.example`',
    );
  }
  for (const origin of origins) rejectOtherThanOrigin(origin);
}

const reasons: Partial<Record<KeyKind, string>> = {
  publishable: 'every visitor of a page can read the key',
  test: 'it tries out changes of the shop',
};

function rejectImpossibleScopes(kind: KeyKind, scopes: readonly Scope[]): void {
  const others = scopes.filter(scope => !canHave(kind, scope));
  if (others.length === 0) return;
  throw new ApiError(
    'invalid_request',
    `Field \`scopes\` of a ${kind} key can contain only ${inCode(possibleScopes[kind])}, because ${reasons[kind]}, but ` +
      `contained ${inCode(others)}`,
  );
}
