import { create, getRequest, postRequest } from './http-requests.ts';
import type { Server } from './servers.ts';

const PETS = 1000;
const PETS_AT_A_TIME = 50;
/** So many that no load reaches them; the limits are checked and counted all the same. */
const UNREACHED_QUOTAS = { perMinute: 1_000_000_000, perDay: 1_000_000_000_000 };
export const NEW_PET = (categoryId: number) => ({ name: 'Bella the Labrador', categoryId });

export interface Access {
  apiKey: string;
  categoryId: number;
}

/** A server with a key, a category and 1,000 pets in it, and the requests to load it with. */
export interface Shop extends Access {
  readPet: string[];
  createPet: string[];
}

/** Gives our service a key and a category through its API. */
export async function prepareService(server: Server): Promise<Access> {
  const { port } = server;
  const administratorKey = await server.administratorKey();
  const { key } = await create<{ key: string }>(port, '/keys', administratorKey, {
    name: 'bench',
    plan: 'enterprise',
    scopes: ['pets:read', 'pets:write', 'orders:read', 'inventory:read'],
    quotas: UNREACHED_QUOTAS,
  });
  const { id } = await create<{ id: number }>(port, '/categories', administratorKey, { name: 'Dogs' });
  return { apiKey: key, categoryId: id };
}

/** Fills our service through its API. */
export async function openShop(server: Server): Promise<Shop> {
  return stockShop(server, await prepareService(server));
}

/** Fills a stack that ours is compared with, which comes with a key of its own and one category. */
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
