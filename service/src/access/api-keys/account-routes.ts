import { defineRoute, type Route } from '../../routes/define-route.ts';
import { reply } from '../../routes/reply.ts';
import type { KeyLimits } from '../rate-limits/key-limits.ts';
import { Account } from './account.ts';
import * as apiKeys from './api-keys.ts';

export const accountRoutes = ({ keyLimits }: { keyLimits: KeyLimits }): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/account',
    operationId: 'getAccount',
    tag: 'Account',
    summary: 'Read your own key',
    description:
      'The plan of the key that asks, its scopes, what is used of its limits, its ban if it has one, and its use by ' +
      'day. It uses none of the quota of the key and works during a ban, and whatever other clients at the same address ' +
      'have used: each key has a bucket for this operation alone, as large as the Free plan, and that is what the ' +
      'rate-limit headers of its response describe. Without a valid key it counts against the address of the caller.',
    scope: 'any',
    countedBy: 'account',
    success: { status: 200, description: 'The key and its use.', schema: Account },
    conditional: true,
    errors: [],
    handler: async ({ caller, db, now }) =>
      reply.resource(await apiKeys.account({ db, keyLimits, now }, caller.keyId)),
  }),
];
