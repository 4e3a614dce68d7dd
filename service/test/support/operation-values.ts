import type { ListedOperation } from '../contract/document.ts';
import type { Client } from './client.ts';
import { aCategory, anOrder, aPet } from './factories.ts';

/** For each parameter that is an ID: creates a resource for the operation to work on, and returns its ID. */
const seeds: Record<string, (api: Client, parameters: Record<string, number>) => Promise<number>> = {
  petId: api => aPet(api, { stock: 5 }),
  categoryId: api => aCategory(api),
  orderId: async api => anOrder(api, { petId: await aPet(api, { stock: 5 }), quantity: 1 }),
  keyId: async api => (await api.post('/keys', { name: 'Spare', plan: 'free', scopes: ['admin'] })).body.id,
  webhookId: async api =>
    (await api.post('/webhooks', { url: 'https://example.com/', types: ['key.*'] })).body.id,
  // A key has one open request at most.
  requestId: async api =>
    (
      (await api.get('/plan-requests?status=open')).body[0] ??
      (await api.post('/account/plan-requests', { plan: 'pro' })).body
    ).id,
  deliveryId: async (api, { webhookId }) => (await api.post(`/webhooks/${webhookId}/test`)).body.id,
};

/**
 * The path parameters of an operation and its example as the body, with IDs of resources that exist. Names that are unique
 * contain that of the operation.
 */
export async function filledIn(
  api: Client,
  { path, operation }: ListedOperation,
): Promise<{ parameters: Record<string, number>; body?: Record<string, unknown> }> {
  const parameters: Record<string, number> = {};
  for (const [, name = ''] of path.matchAll(/\{(\w+)\}/g))
    parameters[name] = await seeds[name]!(api, parameters);
  const [media] = Object.values(operation.requestBody?.content ?? {});
  if (!media) return { parameters };
  const body = { ...(media.example as Record<string, unknown>) };
  for (const name of Object.keys(body)) {
    if (name in seeds) body[name] = await seeds[name]!(api, parameters);
  }
  if (path.startsWith('/categories') && 'name' in body) body.name = `Made by ${operation.operationId}`;
  return { parameters, body };
}
