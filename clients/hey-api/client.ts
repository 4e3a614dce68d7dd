import { createClient } from './petstore/client/index.ts';
import * as api from './petstore/index.ts';

export type { Error as ApiError, KnownEvent, Pet } from './petstore/index.ts';

/** Rejects when there is no response, for example when the service cannot be reached. */
async function received<Fields extends { response?: Response; error?: unknown }>(call: Promise<Fields>) {
  const { response, ...fields } = await call;
  if (response === undefined) throw fields.error;
  return { ...fields, response };
}

export function connect(baseUrl: string, key: string) {
  const client = createClient({ baseUrl, auth: ({ type }) => (type === 'apiKey' ? key : undefined) });
  return {
    createCategory: (body: api.NewCategory) => received(api.createCategory({ client, body })),
    createPet: (body: api.NewPet) => received(api.createPet({ client, body })),
    listPets: (query: api.ListPetsData['query']) => received(api.listPets({ client, query })),
    placeOrder: (body: api.PlaceOrderData['body']) => received(api.placeOrder({ client, body })),
    changeOrder: (orderId: number, body: api.ChangeOrderData['body'], etag?: string) =>
      received(api.changeOrder({ client, path: { orderId }, body, headers: { 'If-Match': etag } })),
    listEvents: (query: api.ListEventsData['query']) => received(api.listEvents({ client, query })),
    createWebhook: (body: api.CreateWebhookData['body']) => received(api.createWebhook({ client, body })),
    createApiKey: (body: api.CreateApiKeyData['body']) => received(api.createApiKey({ client, body })),
    rotateApiKey: (keyId: number, body: api.RotateApiKeyData['body']) =>
      received(api.rotateApiKey({ client, path: { keyId }, body })),
  };
}
