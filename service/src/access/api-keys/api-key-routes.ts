import { pageOf } from '../../contract/page.ts';
import { inWords } from '../../kit/quantities.ts';
import { defineRoute, type Route } from '../../routes/define-route.ts';
import { idParams } from '../../routes/id-params.ts';
import { listQuery } from '../../routes/list-query.ts';
import { reply } from '../../routes/reply.ts';
import type { KeyLimits } from '../rate-limits/key-limits.ts';
import { KeyUsage } from '../rate-limits/key-usage.ts';
import {
  ApiKey,
  ApiKeyPatch,
  CreatedApiKey,
  changedSettings,
  NewApiKey,
  RotatedApiKey,
  Rotation,
} from './api-key.ts';
import { keyList } from './api-key-queries.ts';
import * as apiKeys from './api-keys.ts';
import { FRESH_FOR } from './key-ring.ts';

const keyParams = idParams('keyId', 'The API key.');

export const apiKeyRoutes = ({ keyLimits }: { keyLimits: KeyLimits }): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/keys',
    operationId: 'listApiKeys',
    tag: 'API keys',
    summary: 'List API keys',
    description:
      'All keys, revoked and expired ones included. The secrets are not kept and cannot be listed.',
    scope: 'admin',
    query: listQuery(keyList, {}),
    success: pageOf(ApiKey, 'A page of keys.'),
    errors: [],
    handler: async ({ query, db, now }) => reply.page(await apiKeys.list({ db, keyLimits, now }, query)),
  }),

  defineRoute({
    method: 'POST',
    path: '/keys',
    operationId: 'createApiKey',
    tag: 'API keys',
    summary: 'Create an API key',
    description:
      'Answers with the secret in `key`: it is shown this once and kept only as a hash. ' +
      '`quotas` are required for plan `enterprise` and rejected for the others.',
    scope: 'admin',
    body: NewApiKey,
    success: { status: 201, description: 'The key, with its secret.', schema: CreatedApiKey },
    shownOnce: ['key'],
    errors: [],
    handler: async ({ body, db, now }) => {
      const key = await apiKeys.create({ db, keyLimits, now }, body);
      return reply.created(`/keys/${key.id}`, key);
    },
  }),

  defineRoute({
    method: 'GET',
    path: '/keys/{keyId}',
    operationId: 'getApiKey',
    tag: 'API keys',
    summary: 'Read an API key',
    description: 'The key without its secret, with its ban if it has one.',
    scope: 'admin',
    params: keyParams,
    success: { status: 200, description: 'The key.', schema: ApiKey },
    conditional: true,
    errors: ['api_key_not_found'],
    handler: async ({ params, db, now }) =>
      reply.resource(await apiKeys.read({ db, keyLimits, now }, params.keyId)),
  }),

  defineRoute({
    method: 'PATCH',
    path: '/keys/{keyId}',
    operationId: 'changeApiKey',
    tag: 'API keys',
    summary: 'Change an API key',
    description:
      'A JSON merge patch (RFC 7396). It takes effect with the next request of the key: at once in this process, within ' +
      `${inWords(FRESH_FOR)} in others. Under a new plan what was used so far counts against the new limits. With plan ` +
      '`enterprise` give `quotas`; a change to another plan drops them.',
    scope: 'admin',
    params: keyParams,
    body: ApiKeyPatch,
    success: { status: 200, description: 'The key as it is now.', schema: ApiKey },
    conditional: true,
    errors: ['api_key_not_found', 'api_key_revoked', 'last_admin_key'],
    handler: async ({ params, body, guard, db, now }) => {
      const key = await apiKeys.change({ db, keyLimits, now }, params.keyId, current => {
        guard(current);
        return changedSettings(current, body);
      });
      return reply.resource(key);
    },
  }),

  defineRoute({
    method: 'DELETE',
    path: '/keys/{keyId}',
    operationId: 'revokeApiKey',
    tag: 'API keys',
    summary: 'Revoke an API key',
    description:
      `The key is rejected from now on: at once by this process, within ${inWords(FRESH_FOR)} by others. ` +
      'Its record stays, with `revokedAt`. Revoking a revoked key changes nothing.',
    scope: 'admin',
    params: keyParams,
    success: { status: 204, description: 'The key is revoked.' },
    conditional: true,
    errors: ['api_key_not_found', 'last_admin_key'],
    handler: async ({ params, guard, db, now }) => {
      await apiKeys.revoke({ db, keyLimits, now }, params.keyId, guard);
      return reply.empty;
    },
  }),

  defineRoute({
    method: 'POST',
    path: '/keys/{keyId}/rotate',
    operationId: 'rotateApiKey',
    tag: 'API keys',
    summary: 'Give an API key a new secret',
    description:
      'Answers with the new secret in `key`, shown this once. The secrets before it go on working until ' +
      '`earlierKeysExpireAt`, so that clients can be moved over one by one; after a leak say `graceSeconds: 0`. ' +
      'Limits, usage and bans belong to the key, whichever secret is used.',
    scope: 'admin',
    params: keyParams,
    body: Rotation,
    bodyOptional: true,
    success: { status: 200, description: 'The key, with its new secret.', schema: RotatedApiKey },
    shownOnce: ['key'],
    errors: ['api_key_not_found', 'api_key_revoked'],
    handler: async ({ params, body, db, now }) => {
      return reply.resource(await apiKeys.rotate({ db, keyLimits, now }, params.keyId, body));
    },
  }),

  defineRoute({
    method: 'DELETE',
    path: '/keys/{keyId}/ban',
    operationId: 'liftBan',
    tag: 'API keys',
    summary: 'Lift the ban of an API key',
    description:
      'The key may call again, as far as its limits allow, and its next ban would be as short as a first one. ' +
      'Without a ban there is nothing to lift, and that is no error.',
    scope: 'admin',
    params: keyParams,
    success: { status: 204, description: 'The key is not banned.' },
    errors: ['api_key_not_found'],
    handler: async ({ params, db, now }) => {
      await apiKeys.liftBan({ db, keyLimits, now }, params.keyId);
      return reply.empty;
    },
  }),

  defineRoute({
    method: 'DELETE',
    path: '/keys/{keyId}/limits',
    operationId: 'resetLimits',
    tag: 'API keys',
    summary: 'Clear what an API key has used',
    description:
      `The key begins its minute and its day anew, at once in this process and within ${inWords(FRESH_FOR)} in others. Its ` +
      'ban, if it has one, is lifted, and its next one would be as short as a first one. The use by day stays in ' +
      '`GET /keys/{keyId}/usage`, and the allowance for `/account` stays what it is.',
    scope: 'admin',
    params: keyParams,
    success: { status: 204, description: 'Nothing of the limits of the key is used.' },
    errors: ['api_key_not_found'],
    stability: 'experimental',
    handler: async ({ params, db, now }) => {
      await apiKeys.reset({ db, keyLimits, now }, params.keyId);
      return reply.empty;
    },
  }),

  defineRoute({
    method: 'GET',
    path: '/keys/{keyId}/usage',
    operationId: 'getApiKeyUsage',
    tag: 'API keys',
    summary: 'Read the use of an API key',
    description: 'What is used of its minute and its day, and its requests by UTC day.',
    scope: 'admin',
    params: keyParams,
    success: { status: 200, description: 'The use of the key.', schema: KeyUsage },
    conditional: true,
    errors: ['api_key_not_found'],
    stability: 'experimental',
    handler: async ({ params, db, now }) =>
      reply.resource(await apiKeys.usage({ db, keyLimits, now }, params.keyId)),
  }),
];
