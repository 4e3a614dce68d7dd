import { type ResponseConfig, setConfig } from './petstore/.kubb/fetch.ts';
import * as api from './petstore/clients.ts';
import type * as types from './petstore/types.ts';

export type { Error as ApiError, KnownEvent, Pet } from './petstore/types.ts';

/** Separates the data of a success from the error: the generated type has only that of a success. */
async function settle<Data>(call: Promise<ResponseConfig<Data>>) {
  const response = await call;
  return response.status < 300
    ? { data: response.data, response }
    : { error: response.data as types.Error, response };
}

export function connect(baseURL: string, key: string) {
  setConfig({ baseURL, headers: { 'X-API-Key': key, 'Content-Type': 'application/json' } });
  return {
    createCategory: (body: types.NewCategory) => settle(api.createCategory(body)),
    createPet: (body: types.NewPet) => settle(api.createPet(body)),
    listPets: (query: types.ListPetsQueryParams) => settle(api.listPets(query)),
    placeOrder: (body: types.Order) => settle(api.placeOrder(body)),
    changeOrder: (id: number, body: types.OrderPatch, etag?: string) =>
      settle(api.changeOrder(id, body, etag === undefined ? {} : { 'If-Match': etag })),
    listEvents: (query: types.ListEventsQueryParams) => settle(api.listEvents(query)),
    createWebhook: (body: types.NewWebhook) => settle(api.createWebhook(body)),
    createApiKey: (body: types.CreateApiKeyMutationRequest) => settle(api.createApiKey(body)),
    rotateApiKey: (id: number, body: types.Rotation) => settle(api.rotateApiKey(id, body)),
  };
}
