import * as api from './petstore.ts';
import { settle } from './settle.ts';

export type { Error as ApiError, KnownEventRead as KnownEvent, PetRead as Pet } from './petstore.ts';

export function connect(origin: string, key: string) {
  Object.assign(api.defaults, { baseUrl: origin, headers: { 'X-API-Key': key } });
  return {
    createCategory: (body: api.NewCategory) => settle(api.createCategory(body)),
    createPet: (body: api.NewPet) => settle(api.createPet(body)),
    listPets: (query: Parameters<typeof api.listPets>[0]) => settle(api.listPets(query)),
    placeOrder: (body: api.Order) => settle(api.placeOrder(body)),
    changeOrder: (id: number, body: api.OrderPatch, etag?: string) =>
      settle(api.changeOrder(id, body, etag === undefined ? {} : { ifMatch: etag })),
    listEvents: ({ type, subject }: { type?: string[]; subject?: string }) =>
      settle(api.listEvents({ $type: type, subject })),
    createWebhook: (body: api.NewWebhook) => settle(api.createWebhook(body)),
    createApiKey: (body: Parameters<typeof api.createApiKey>[0]) => settle(api.createApiKey(body)),
    rotateApiKey: (id: number, body: api.Rotation) => settle(api.rotateApiKey(id, body)),
  };
}
