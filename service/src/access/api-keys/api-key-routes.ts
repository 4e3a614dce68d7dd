import {
  defineRoute,
  idParams,
  listQuery,
  type Route,
  reply,
  type Services,
} from '../../contract/define-route.ts';
import { ApiKey, CreatedApiKey, NewApiKey } from './api-key.ts';
import * as apiKeys from './api-keys.ts';
import type { KeyRing } from './key-ring.ts';

export interface AccessServices extends Services {
  keyRing: KeyRing;
}

const keyParams = idParams('keyId', 'The API key.');

export const apiKeyRoutes: Route<AccessServices>[] = [
  defineRoute({
    method: 'GET',
    path: '/keys',
    operationId: 'listApiKeys',
    tag: 'API keys',
    summary: 'List API keys',
    description:
      'All keys, revoked and expired ones included. The secrets are not kept and cannot be listed.',
    scope: 'admin',
    query: listQuery({}, ['id', '-id']),
    success: {
      status: 200,
      description: 'A page of keys.',
      schema: { type: 'array', items: ApiKey, maxItems: 100 },
      example: [ApiKey.example],
    },
    errors: [],
    stability: 'experimental',
    handler: async ({ query }, { db }) => reply.page(await apiKeys.list(db, query)),
  }),

  defineRoute({
    method: 'POST',
    path: '/keys',
    operationId: 'createApiKey',
    tag: 'API keys',
    summary: 'Create an API key',
    description:
      'Answers with the secret in `key`: it is shown this once and kept only as a hash. ' +
      '`quotas` are required for plan `enterprise` and refused for the others.',
    scope: 'admin',
    body: NewApiKey,
    success: { status: 201, description: 'The key, with its secret.', schema: CreatedApiKey },
    shownOnce: ['key'],
    errors: [],
    stability: 'experimental',
    handler: async ({ body }, { db, now }) => {
      const key = await apiKeys.create(db, body, now);
      return reply.created(`/keys/${key.id}`, key);
    },
  }),

  defineRoute({
    method: 'GET',
    path: '/keys/{keyId}',
    operationId: 'getApiKey',
    tag: 'API keys',
    summary: 'Read an API key',
    description: 'The key without its secret.',
    scope: 'admin',
    params: keyParams,
    success: { status: 200, description: 'The key.', schema: ApiKey },
    conditional: true,
    errors: ['api_key_not_found'],
    stability: 'experimental',
    handler: async ({ params }, { db }) => reply.resource(await apiKeys.read(db, params.keyId)),
  }),

  defineRoute({
    method: 'DELETE',
    path: '/keys/{keyId}',
    operationId: 'revokeApiKey',
    tag: 'API keys',
    summary: 'Revoke an API key',
    description:
      'The key is refused from now on: at once by this process, within a second by others. ' +
      'Its record stays, with `revokedAt`. Revoking a revoked key changes nothing.',
    scope: 'admin',
    params: keyParams,
    success: { status: 204, description: 'The key is revoked.' },
    conditional: true,
    errors: ['api_key_not_found'],
    stability: 'experimental',
    handler: async ({ params, guard }, { db, now, keyRing }: AccessServices) => {
      await apiKeys.revoke(db, params.keyId, guard, now);
      keyRing.clear();
      return reply.empty;
    },
  }),
];
