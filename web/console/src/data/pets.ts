import type { NewPet, Pet, PetStatus, PetStore } from '@petstore/client';
import type { Resource, Version } from './resource.ts';

export interface PetQuery {
  q?: string | undefined;
  status?: PetStatus | undefined;
  categoryId?: number | undefined;
  sort?: 'id' | '-id' | 'name' | '-name' | undefined;
}

export const pets: Resource<Pet, PetQuery> = {
  name: 'pet',
  idOf: pet => pet.id,
  // A search has an order of its own.
  list: (store, { sort, ...query }, options) =>
    store.pets.list(query.q ? query : { ...query, sort }, options),
  read: readPet,
  create: (store, pet) => store.pets.create(pet as NewPet),
  update: (store, id, patch, options) => store.pets.update(id, patch, options),
  remove: (store, id, options) => store.pets.delete(id, options),
  matches: (pet, { q, status, categoryId }) =>
    (status === undefined || pet.status === status) &&
    (categoryId === undefined || pet.categoryId === categoryId) &&
    (q === undefined || pet.name.toLowerCase().includes(q.toLowerCase())),
};

/** Whether the service can search for a text: it needs a letter or a digit. */
export const isSearchable = (text: string): boolean => /[\p{L}\p{N}]/u.test(text);

/** Reads a pet through the list, because the operation for one pet is deprecated. */
async function readPet(store: PetStore, id: number): Promise<Version<Pet>> {
  for await (const { data, etag } of store.pets.list({ id: [id] }).pages()) {
    const [pet] = data;
    if (pet) return { data: pet, etag };
  }
  throw new Error(`Pet ${id} does not exist: it may have been deleted`);
}
