import { CREATED_ID } from '../../contract/operation.ts';
import { pageOf } from '../../contract/page.ts';
import { pageLimit } from '../../contract/schema.ts';
import { parameters } from '../../contract/shape.ts';
import { inWords } from '../../kit/quantities.ts';
import { defineRoute, type Route } from '../../routes/define-route.ts';
import { idParams } from '../../routes/id-params.ts';
import { listQuery } from '../../routes/list-query.ts';
import { reply } from '../../routes/reply.ts';
import { busiestKeys } from '../rate-limits/busiest-keys.ts';
import type { KeyLimits } from '../rate-limits/key-limits.ts';
import { BusiestKeys, KeyUsage } from '../rate-limits/key-usage.ts';
import {
  ApiKey,
  ApiKeyPatch,
  CreatedApiKey,
  changedSettings,
  NewApiKey,
  newKeyShapes,
  RotatedApiKey,
  Rotation,
} from './api-key.ts';
import { keyList } from './api-key-queries.ts';
import * as apiKeys from './api-keys.ts';
import { FRESH_FOR } from './key-ring.ts';

/** The settings of operations for administrators. */
const administration = { tag: 'API keys', scope: 'admin' } as const;

/** The settings of those about one key. */
const ofKey = { ...administration, params: idParams('keyId', 'The API key.') } as const;

export const apiKeyRoutes = ({ keyLimits }: { keyLimits: KeyLimits }): Route[] => [
  defineRoute({
    ...administration,
    method: 'GET',
    path: '/keys',
    operationId: 'listApiKeys',
    summary: 'List API keys',
    description:
      'All keys, including revoked and expired ones. The secrets are not stored and cannot be listed.',
    query: listQuery(keyList),
    success: pageOf(ApiKey, 'A page of keys.'),
    errors: [],
    handler: async ({ query, db, now }) => reply.page(await apiKeys.list({ db, keyLimits, now }, query)),
  }),

  defineRoute({
    ...administration,
    method: 'POST',
    path: '/keys',
    operationId: 'createApiKey',
    summary: 'Create an API key',
    description:
      'Returns the secret in `key`. It is shown only once and stored only as a hash. ' +
      '`quotas` are required for plan `enterprise` and rejected for other plans.',
    body: NewApiKey,
    publishedBody: newKeyShapes,
    success: {
      status: 201,
      description: 'The key, with its secret.',
      schema: CreatedApiKey,
      read: { operationId: 'getApiKey', parameters: { keyId: CREATED_ID } },
    },
    shownOnce: ['key'],
    conditional: true,
    errors: [],
    handler: async ({ body, db, now }) => {
      const key = await apiKeys.create({ db, now }, body);
      return reply.created(`/keys/${key.id}`, key);
    },
  }),

  defineRoute({
    ...ofKey,
    method: 'GET',
    path: '/keys/{keyId}',
    operationId: 'getApiKey',
    summary: 'Read an API key',
    description: 'Returns the key without its secret, and its ban if it has one.',
    success: { status: 200, description: 'The key.', schema: ApiKey },
    conditional: true,
    errors: ['api_key_not_found'],
    handler: async ({ params, db, now }) =>
      reply.resource(await apiKeys.read({ db, keyLimits, now }, params.keyId)),
  }),

  defineRoute({
    ...ofKey,
    method: 'PATCH',
    path: '/keys/{keyId}',
    operationId: 'changeApiKey',
    summary: 'Change an API key',
    description:
      'A JSON merge patch (RFC 7396). It takes effect with the next request of the key: at once in this process, within ' +
      `${inWords(FRESH_FOR)} in others. Requests so far count against the limits of a new plan. Plan \`enterprise\` requires ` +
      '`quotas`; a change to another plan removes them.',
    body: ApiKeyPatch,
    setElsewhere: {
      ban: 'DELETE /keys/{keyId}/ban lifts a ban',
      revokedAt: 'DELETE /keys/{keyId} revokes a key permanently',
    },
    success: { status: 200, description: 'The updated key.', schema: ApiKey },
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
    ...ofKey,
    method: 'DELETE',
    path: '/keys/{keyId}',
    operationId: 'revokeApiKey',
    summary: 'Revoke an API key',
    description:
      `Requests with the key are rejected: at once by this process, within ${inWords(FRESH_FOR)} by others. ` +
      'The key remains readable, with `revokedAt`. Revoking a revoked key changes nothing.',
    success: { status: 204, description: 'The key was revoked.' },
    conditional: true,
    errors: ['api_key_not_found', 'last_admin_key'],
    handler: async ({ params, guard, db, now }) => {
      await apiKeys.revoke({ db, keyLimits, now }, params.keyId, guard);
      return reply.empty;
    },
  }),

  defineRoute({
    ...ofKey,
    method: 'POST',
    path: '/keys/{keyId}/rotate',
    operationId: 'rotateApiKey',
    summary: 'Rotate the secret of an API key',
    description:
      'Returns the new secret in `key`. It is shown only once. Earlier secrets continue to work until ' +
      '`earlierKeysExpireAt`, so that clients can switch one by one; after a leak send `graceSeconds: 0`. ' +
      'Limits, usage and bans belong to the key, regardless of the secret that is used.',
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
    ...ofKey,
    method: 'DELETE',
    path: '/keys/{keyId}/ban',
    operationId: 'liftBan',
    summary: 'Lift the ban of an API key',
    description:
      'The key can send requests again within its limits, and its next ban will be as short as the first. ' +
      'For a key without a ban the operation also succeeds.',
    success: { status: 204, description: 'The key is not banned.' },
    errors: ['api_key_not_found'],
    handler: async ({ params, db, now }) => {
      await apiKeys.liftBan({ db, keyLimits, now }, params.keyId);
      return reply.empty;
    },
  }),

  defineRoute({
    ...ofKey,
    method: 'DELETE',
    path: '/keys/{keyId}/limits',
    operationId: 'resetLimits',
    summary: 'Reset the limits of an API key',
    description:
      `The counts of the key's minute and day start again at 0, at once in this process and within ${inWords(FRESH_FOR)} in ` +
      'others. Its ban, if it has one, is lifted, and its next ban will be as short as the first. ' +
      '`GET /keys/{keyId}/usage` still returns the usage by day, and the limit of `/account` does not change.',
    success: { status: 204, description: 'The limits of the key were reset.' },
    errors: ['api_key_not_found'],
    stability: 'experimental',
    handler: async ({ params, db, now }) => {
      await apiKeys.reset({ db, keyLimits, now }, params.keyId);
      return reply.empty;
    },
  }),

  defineRoute({
    ...administration,
    method: 'GET',
    path: '/key-usage',
    operationId: 'getBusiestApiKeys',
    summary: 'List API keys by their requests of today',
    description:
      'The keys with requests on the present UTC day, those with the most requests first. Rejected requests are included. Counts ' +
      'are up to five seconds old. `GET /keys/{keyId}/usage` has the usage of any key.',
    query: parameters({ limit: { ...pageLimit, description: 'The maximum number of keys.' } }),
    success: { status: 200, description: 'The keys with the most requests.', schema: BusiestKeys },
    conditional: true,
    errors: [],
    stability: 'experimental',
    handler: async ({ query, db, now }) =>
      reply.resource(await busiestKeys(db, now, query.limit ?? pageLimit.default)),
  }),

  defineRoute({
    ...ofKey,
    method: 'GET',
    path: '/keys/{keyId}/usage',
    operationId: 'getApiKeyUsage',
    summary: 'Read the usage of an API key',
    description: 'Returns the usage of the limits per minute and per day, and the requests by UTC day.',
    success: { status: 200, description: 'The usage of the key.', schema: KeyUsage },
    conditional: true,
    errors: ['api_key_not_found'],
    stability: 'experimental',
    handler: async ({ params, db, now }) =>
      reply.resource(await apiKeys.usage({ db, keyLimits, now }, params.keyId)),
  }),
];
