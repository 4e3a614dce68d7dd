import type { input, ZodType } from 'zod';
import * as schemas from './petstore.zod.ts';

export type ApiError = schemas.ErrorOutput;
export type KnownEvent = schemas.KnownEventOutput;
export type Pet = schemas.PetOutput;

/** A client that checks each response: orval generates the schemas, and the requests are sent with `fetch`. */
export function connect(origin: string, key: string) {
  async function call<Data>(
    method: string,
    path: string,
    schema: ZodType<Data>,
    body?: object,
    etag?: string,
  ) {
    const response = await fetch(new URL(path, origin), {
      method,
      headers: {
        'X-API-Key': key,
        ...(body && { 'Content-Type': 'application/json' }),
        ...(etag && { 'If-Match': etag }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const received = await response.json();
    return response.ok
      ? { data: schema.parse(received), response }
      : { error: schemas.Error.parse(received), response };
  }

  const list = <Data>(path: string, schema: ZodType<Data>, query: object) => {
    const pairs = Object.entries(query).flatMap(([name, value]) =>
      [value].flat().map(item => [name, String(item)]),
    );
    return call('GET', `${path}?${new URLSearchParams(pairs)}`, schema);
  };

  return {
    createCategory: (body: schemas.NewCategory) =>
      call('POST', '/categories', schemas.CreateCategoryResponse, schemas.NewCategory.parse(body)),
    createPet: (body: schemas.NewPet) =>
      call('POST', '/pets', schemas.CreatePetResponse, schemas.NewPet.parse(body)),
    listPets: (query: input<typeof schemas.ListPetsQueryParams>) =>
      list('/pets', schemas.ListPetsResponse, schemas.ListPetsQueryParams.parse(query)),
    placeOrder: (body: schemas.Order) =>
      call('POST', '/store/orders', schemas.PlaceOrderResponse, schemas.Order.parse(body)),
    changeOrder: (id: number, body: schemas.OrderPatch, etag?: string) =>
      call('PATCH', `/store/orders/${id}`, schemas.ChangeOrderResponse, schemas.OrderPatch.parse(body), etag),
    listEvents: (query: input<typeof schemas.ListEventsQueryParams>) =>
      list('/events', schemas.ListEventsResponse, schemas.ListEventsQueryParams.parse(query)),
    createWebhook: (body: schemas.NewWebhook) =>
      call('POST', '/webhooks', schemas.CreateWebhookResponse, schemas.NewWebhook.parse(body)),
    createApiKey: (body: schemas.NewApiKey) =>
      call('POST', '/keys', schemas.CreateApiKeyResponse, schemas.NewApiKey.parse(body)),
    rotateApiKey: (id: number, body: schemas.Rotation) =>
      call('POST', `/keys/${id}/rotate`, schemas.RotateApiKeyResponse, schemas.Rotation.parse(body)),
  };
}
