import * as api from './petstore.ts';
import { settle } from './settle.ts';

export type { Error as ApiError, KnownEvent, Pet } from './petstore.ts';

/** The generated client reads the service's URL from the environment. */
export function connect(origin: string, key: string) {
  process.env.PETSTORE_URL = origin;
  const options = { headers: { 'X-API-Key': key } };
  return {
    createCategory: (body: api.NewCategory) => settle(api.createCategory(body, undefined, options)),
    createPet: (body: api.NewPet) => settle(api.createPet(body, undefined, options)),
    listPets: (query: api.ListPetsParams) => settle(api.listPets(query, undefined, options)),
    placeOrder: (body: api.Order) => settle(api.placeOrder(body, undefined, options)),
    changeOrder: (id: number, body: api.OrderPatch, etag?: string) =>
      settle(api.changeOrder(id, body, etag === undefined ? {} : { 'If-Match': etag }, options)),
    listEvents: (query: api.ListEventsParams) => settle(api.listEvents(query, undefined, options)),
    createWebhook: (body: api.NewWebhook) => settle(api.createWebhook(body, undefined, options)),
    createApiKey: (body: api.NewApiKey) => settle(api.createApiKey(body, undefined, options)),
    rotateApiKey: (id: number, body: api.Rotation) => settle(api.rotateApiKey(id, body, undefined, options)),
  };
}
