import { type Client, keptOpen, post, requestText, send } from './http.ts';
import type { Server } from './servers.ts';

const PETS = 1000;
const PETS_AT_A_TIME = 50;
/** Quotas that no load reaches. The limits are still checked and counted. */
const UNREACHED_QUOTAS = { perMinute: 1_000_000_000, perDay: 1_000_000_000_000 };
const SCOPES = [
  'pets:read',
  'pets:write',
  'orders:read',
  'orders:write',
  'inventory:read',
  'inventory:write',
  'events:read',
  'webhooks:write',
];
export const NEW_PET = (categoryId: number) => ({ name: 'Bella the Labrador', categoryId });

/** A server, a key with most scopes but not `admin`, and a category. */
export interface Access extends Client {
  categoryId: number;
}

/** A server with 1,000 pets, and the requests for its load. */
export interface Shop extends Access {
  petIds: number[];
  readPet: string[];
  createPet: string[];
  /** Each changes the name of another pet. */
  changePet: string[];
  /** Each of another pet. */
  placeOrder: string[];
}

/** Returns a client with the administrator's key. */
export async function administratorOf(server: Server): Promise<Client> {
  return { port: server.port, apiKey: await server.administratorKey() };
}

/** Creates a key and a category through the API of the service. */
export async function prepareService(server: Server): Promise<Access> {
  const administrator = await administratorOf(server);
  // The service writes the file before it commits the key.
  await server.responds('/account', { 'X-API-Key': administrator.apiKey });
  const { key } = await post<{ key: string }>(administrator, '/keys', {
    name: 'bench',
    plan: 'enterprise',
    scopes: SCOPES,
    quotas: UNREACHED_QUOTAS,
  });
  const { id } = await post<{ id: number }>(administrator, '/categories', { name: 'Dogs' });
  return { port: server.port, apiKey: key, categoryId: id };
}

/** Fills the service through its API. Its pets have more units than a load can order. */
export async function openShop(server: Server): Promise<Shop> {
  const shop = await stockShop(await prepareService(server));
  using client = keptOpen(shop);
  for (const id of shop.petIds) await send(client, 'PUT', `/store/inventory/${id}`, '{"quantity":1000000}');
  return shop;
}

/** Fills a stack that the service is compared with. It already has a key and a category. */
export async function openPeerShop(server: Server): Promise<Shop> {
  return stockShop({ ...(await administratorOf(server)), categoryId: 1 });
}

async function stockShop(access: Access): Promise<Shop> {
  using client = keptOpen(access);
  const pet = NEW_PET(access.categoryId);
  const ids: number[] = [];
  while (ids.length < PETS) {
    const pets = Array.from({ length: PETS_AT_A_TIME }, () => post<{ id: number }>(client, '/pets', pet));
    ids.push(...(await Promise.all(pets)).map(({ id }) => id));
  }
  const { apiKey } = access;
  return {
    ...access,
    petIds: ids,
    readPet: ids.map(id => requestText('GET', `/pets/${id}`, apiKey)),
    createPet: [requestText('POST', '/pets', apiKey, { body: JSON.stringify(pet) })],
    changePet: ['Bella the Retriever', pet.name].flatMap(name =>
      ids.map(id => requestText('PATCH', `/pets/${id}`, apiKey, { body: JSON.stringify({ name }) })),
    ),
    placeOrder: ids.map(petId =>
      requestText('POST', '/store/orders', apiKey, { body: JSON.stringify({ petId }) }),
    ),
  };
}
