import createClient from 'openapi-fetch';
import type { components, operations, paths } from './petstore.d.ts';

type Schemas = components['schemas'];
type Query<Operation extends keyof operations> = operations[Operation]['parameters']['query'];

export type Pet = Schemas['Pet'];
export type KnownEvent = Schemas['KnownEvent'];
export type ApiError = Schemas['Error'];

export function connect(baseUrl: string, key: string) {
  const client = createClient<paths>({ baseUrl, headers: { 'X-API-Key': key } });
  return {
    createCategory: (body: Schemas['NewCategory']) => client.POST('/categories', { body }),
    createPet: (body: Schemas['NewPet']) => client.POST('/pets', { body }),
    listPets: (query: Query<'listPets'>) => client.GET('/pets', { params: { query } }),
    placeOrder: (body: Schemas['Order']) => client.POST('/store/orders', { body }),
    changeOrder: (orderId: number, body: Schemas['OrderPatch'], etag?: string) =>
      client.PATCH('/store/orders/{orderId}', {
        params: { path: { orderId }, header: { 'If-Match': etag } },
        body,
      }),
    listEvents: (query: Query<'listEvents'>) => client.GET('/events', { params: { query } }),
    createWebhook: (body: Schemas['NewWebhook']) => client.POST('/webhooks', { body }),
    createApiKey: (body: Schemas['NewApiKey']) => client.POST('/keys', { body }),
    rotateApiKey: (keyId: number, body: Schemas['Rotation']) =>
      client.POST('/keys/{keyId}/rotate', { params: { path: { keyId } }, body }),
  };
}
