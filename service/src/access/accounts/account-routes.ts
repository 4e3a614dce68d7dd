import { defineRoute, type Route } from '../../routes/define-route.ts';
import { reply } from '../../routes/reply.ts';
import type { KeyLimits } from '../rate-limits/key-limits.ts';
import { Account } from './account.ts';
import * as accounts from './accounts.ts';

export const accountRoutes = ({ keyLimits }: { keyLimits: KeyLimits }): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/account',
    operationId: 'getAccount',
    tag: 'Account',
    summary: 'Read your own key',
    description:
      'Returns the plan of the calling API key, its scopes, the usage of its limits, its ban if it has one, its usage by ' +
      'day, its warnings, and its newest plan request. The request does not count against the quotas of the key, and works during a ban and independently of other ' +
      'clients at the same address: each key has a separate bucket for the operations under `/account`, with the limits of the Free plan, ' +
      'which the rate-limit headers of the response describe. Without a valid key it counts against the address of the ' +
      'client.',
    scope: 'any',
    countedBy: 'account',
    success: { status: 200, description: 'The key and its usage.', schema: Account },
    conditional: true,
    errors: [],
    handler: async ({ caller, db, now }) =>
      reply.resource(await accounts.account({ db, keyLimits, now }, caller.keyId)),
  }),
];
