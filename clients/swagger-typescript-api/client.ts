import {
  Api,
  type Error as ApiError,
  type HttpResponse,
  type NewApiKey,
  type NewCategory,
  type NewPet,
  type NewWebhook,
  type Order,
  type OrderPatch,
  type Rotation,
} from './petstore.ts';

export type { Error as ApiError, KnownEvent, Pet } from './petstore.ts';

/** Separates the data of a success from the error: the generated type always has both. */
// biome-ignore lint/suspicious/noConfusingVoidType: the generated type of a 304, which has no body
async function settle<Data>(call: Promise<HttpResponse<Data, ApiError | void>>) {
  const response = await call;
  return response.ok ? { data: response.data, response } : { error: response.error || undefined, response };
}

export function connect(baseUrl: string, key: string) {
  const api = new Api({ baseUrl, baseApiParams: { headers: { 'X-API-Key': key } } });
  return {
    createCategory: (body: NewCategory) => settle(api.categories.createCategory(body)),
    createPet: (body: NewPet) => settle(api.pets.createPet(body)),
    listPets: (query: Parameters<typeof api.pets.listPets>[0]) => settle(api.pets.listPets(query)),
    placeOrder: (body: Order) => settle(api.store.placeOrder(body)),
    changeOrder: (id: number, body: OrderPatch, etag?: string) =>
      settle(api.store.changeOrder(id, body, { headers: etag === undefined ? {} : { 'If-Match': etag } })),
    listEvents: (query: Parameters<typeof api.events.listEvents>[0]) => settle(api.events.listEvents(query)),
    createWebhook: (body: NewWebhook) => settle(api.webhooks.createWebhook(body)),
    createApiKey: (body: NewApiKey) => settle(api.keys.createApiKey(body)),
    rotateApiKey: (id: number, body: Rotation) => settle(api.keys.rotateApiKey(id, body)),
  };
}
