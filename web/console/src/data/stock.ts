import type { InventoryItem, PetStatus } from '@petstore/client';
import type { Resource } from './resource.ts';

export interface StockQuery {
  status?: PetStatus | undefined;
  categoryId?: number | undefined;
  quantityBelow?: number | undefined;
  sort?: 'quantity' | '-quantity' | undefined;
}

/** The stock of pets. The lowest is first. */
export const stock: Resource<InventoryItem, StockQuery> = {
  name: 'inventory',
  idOf: item => item.petId,
  list: (store, { sort = 'quantity', ...query }, options) =>
    store.inventory.list({ ...query, sort }, options),
  read: (store, id) => store.inventory.get(id).withResponse(),
  create: notHere,
  update: (store, id, { quantity = 0 }, options) => store.inventory.set(id, { quantity }, options),
  remove: notHere,
  // An entry does not have the category of its pet.
  matches: (item, { status, categoryId, quantityBelow }) =>
    categoryId === undefined &&
    (status === undefined || item.status === status) &&
    (quantityBelow === undefined || item.quantity < quantityBelow),
};

function notHere(): never {
  throw new Error('The stock of an animal is created and deleted together with the animal');
}
