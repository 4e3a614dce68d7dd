import type { CallOptions, NewPet, Pet, PetStatus, PetStore } from '@petstore/client';
import { countOf, firstPage, type PageQuery, type Pages, type Resource, type Version } from './resource.ts';

export interface PetQuery {
  q?: string | undefined;
  status?: PetStatus | undefined;
  categoryId?: number | undefined;
  sort?: 'id' | '-id' | 'name' | '-name' | undefined;
}

export const pets: Resource<Pet, PetQuery> = {
  name: 'pet',
  idOf: pet => pet.id,
  list: (store, { q, sort, ...query }, options) =>
    // A search has an order of its own.
    q ? searchPets(store, { ...query, q }, options) : store.pets.list({ ...query, sort }, options),
  read: readPet,
  create: (store, pet) => store.pets.create(pet as NewPet),
  update: (store, id, patch, options) => store.pets.update(id, patch, options),
  remove: (store, id, options) => store.pets.delete(id, options),
  matches: (pet, { q, status, categoryId }) =>
    (status === undefined || pet.status === status) &&
    (categoryId === undefined || pet.categoryId === categoryId) &&
    (q === undefined || pet.name.toLowerCase().includes(q.toLowerCase())),
};

/** A search for words in names. A number also finds the animal with this ID, which is the first one. */
export function searchPets(
  store: PetStore,
  { q, ...query }: Omit<PetQuery, 'sort'> & PageQuery & { q: string },
  options?: CallOptions,
): Pages<Pet> {
  const found = store.pets.list({ ...query, q }, options);
  const isId = query.cursor === undefined && /^[1-9]\d{0,14}$/.test(q);
  if (!isId) return found;
  return {
    pages: async function* () {
      const { data } = await firstPage(store.pets.list({ id: [Number(q)] }, options));
      const exact = data.filter(pet => pets.matches(pet, query));
      let isFirst = true;
      for await (const page of found.pages()) {
        const others = page.data.filter(({ id }) => id !== exact[0]?.id);
        const rows = isFirst ? [...exact, ...others] : others;
        const headers = new Headers(page.headers);
        const total = countOf(page);
        if (total) headers.set('X-Total-Count', String(total.count + rows.length - page.data.length));
        yield { ...page, data: rows, headers };
        isFirst = false;
      }
    },
  };
}

/** An animal was deleted, or its ID is mistyped. */
export class NoSuchAnimal extends Error {}

/** Reads a pet through the list, because the operation for one pet is deprecated. */
async function readPet(store: PetStore, id: number): Promise<Version<Pet>> {
  for await (const { data, etag } of store.pets.list({ id: [id] }).pages()) {
    const [pet] = data;
    if (pet) return { data: pet, etag };
  }
  throw new NoSuchAnimal('There is no such animal. It may have been deleted.');
}
