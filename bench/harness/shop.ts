import { create, getRequest, postRequest } from './http-requests.ts';
import type { Server } from './servers.ts';

const PETS = 1000;
const PETS_AT_A_TIME = 50;
/** Quotas that no load reaches. The limits are still checked and counted. */
const UNREACHED_QUOTAS = { perMinute: 1_000_000_000, perDay: 1_000_000_000_000 };
export const NEW_PET = (categoryId: number) => ({ name: 'Bella the Labrador', categoryId });

export interface Access {
  apiKey: string;
  categoryId: number;
}

/** The key and the category of a server with 1,000 pets, and the requests for its load. */
export interface Shop extends Access {
  readPet: string[];
  createPet: string[];
}

/** Creates a key and a category through the API of the service. */
export async function prepareService(server: Server): Promise<Access> {
  const { port } = server;
  const administratorKey = await server.administratorKey();
  const { key } = await create<{ key: string }>(port, '/keys', administratorKey, {
    name: 'bench',
    plan: 'enterprise',
    scopes: ['pets:read', 'pets:write', 'orders:read', 'inventory:read', 'inventory:write'],
    quotas: UNREACHED_QUOTAS,
  });
  const { id } = await create<{ id: number }>(port, '/categories', administratorKey, { name: 'Dogs' });
  return { apiKey: key, categoryId: id };
}

/** Fills the service through its API. */
export async function openShop(server: Server): Promise<Shop> {
  return stockShop(server, await prepareService(server));
}

/** Fills a stack that the service is compared with. It already has a key and a category. */
export async function openPeerShop(server: Server): Promise<Shop> {
  return stockShop(server, { apiKey: await server.administratorKey(), categoryId: 1 });
}

async function stockShop(server: Server, { apiKey, categoryId }: Access): Promise<Shop> {
  const ids: number[] = [];
  while (ids.length < PETS) {
    const pets = Array.from({ length: PETS_AT_A_TIME }, () =>
      create<{ id: number }>(server.port, '/pets', apiKey, NEW_PET(categoryId)),
    );
    ids.push(...(await Promise.all(pets)).map(pet => pet.id));
  }
  return {
    apiKey,
    categoryId,
    readPet: ids.map(id => getRequest(`/pets/${id}`, apiKey)),
    createPet: [postRequest('/pets', apiKey, NEW_PET(categoryId))],
  };
}
