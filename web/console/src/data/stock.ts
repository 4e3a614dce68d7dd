import type { CallOptions, InventoryItem, PetStatus, PetStore } from '@petstore/client';
import { holdAgain } from './hold.ts';
import { searchPets } from './pets.ts';
import { firstPage, type PageOf, type PageQuery, type Resource } from './resource.ts';

export const stockSorts = ['quantity', '-quantity', 'name', '-name'] as const;

export interface StockQuery {
  /** Words of the names of animals. */
  q?: string | undefined;
  status?: PetStatus | undefined;
  categoryId?: number | undefined;
  quantityBelow?: number | undefined;
  sort?: (typeof stockSorts)[number] | undefined;
}

/** The stock of pets. The lowest is first. */
export const stock: Resource<InventoryItem, StockQuery> = {
  name: 'inventory',
  idOf: item => item.petId,
  list: (store, { q, sort = 'quantity', ...query }, options) =>
    q || sort === 'name' || sort === '-name'
      ? { pages: () => pagesByName(store, { ...query, q, sort }, options) }
      : store.inventory.list({ ...query, sort }, options),
  read: (store, id) => store.inventory.get(id).withResponse(),
  create: notHere,
  update: (store, id, { quantity = 0 }, options) => store.inventory.set(id, { quantity }, options),
  remove: notHere,
  restore: holdAgain,
  // An entry has neither the name nor the category of its pet.
  matches: (item, { q, status, categoryId, quantityBelow }) =>
    q === undefined &&
    categoryId === undefined &&
    (status === undefined || item.status === status) &&
    (quantityBelow === undefined || item.quantity < quantityBelow),
};

/** Entries in the order of the names of their animals, or of a search: the pages are those of the animals. */
async function* pagesByName(
  store: PetStore,
  { q, sort, quantityBelow, ...query }: StockQuery & PageQuery,
  options?: CallOptions,
): AsyncGenerator<PageOf<InventoryItem>> {
  const order = sort === '-name' ? ('-name' as const) : ('name' as const);
  const animals = q
    ? searchPets(store, { ...query, q }, options)
    : store.pets.list({ ...query, sort: order }, options);
  for await (const page of animals.pages()) {
    const petId = page.data.map(({ id }) => id);
    const { data } =
      petId.length > 0
        ? await firstPage(store.inventory.list({ petId, limit: petId.length }, options))
        : { data: [] };
    const entries = new Map(data.map(item => [item.petId, item]));
    const found = petId
      .flatMap(id => entries.get(id) ?? [])
      .filter(({ quantity }) => quantityBelow === undefined || quantity < quantityBelow);
    // A list without rows would say that nothing matches.
    if (found.length === 0 && page.nextCursor !== undefined) continue;
    // The count is that of the animals with any number of units.
    const headers = quantityBelow === undefined ? page.headers : new Headers();
    yield { data: found, headers, nextCursor: page.nextCursor };
  }
}

function notHere(): never {
  throw new Error('The stock of an animal is created and deleted together with the animal');
}
