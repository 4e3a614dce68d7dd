import { categoryIdColumn, petStatuses } from '../catalog/pets/pet.ts';
import { stockTable } from '../catalog/pets/pet-queries.ts';
import { idsToFind, idToFind, int32, MAX_INT32 } from '../contract/schema.ts';
import { defineList } from '../db/define-list.ts';
import { anyOf, below, is, oneOf, type QueryOf } from '../db/list.ts';

export const stockList = defineList(stockTable, {
  filters: {
    petId: oneOf('petId', {
      ...idsToFind,
      description: 'Entries of these pets. Repeat the parameter for each pet, or separate them by commas.',
    }),
    status: anyOf('status', {
      ...petStatuses,
      description:
        'Entries of pets with one of these statuses. Repeat the parameter for each status, or separate them by commas.',
    }),
    categoryId: is(categoryIdColumn, { ...idToFind, description: 'Entries of pets of this category.' }),
    quantityBelow: below('quantity', {
      ...int32,
      minimum: 0,
      maximum: MAX_INT32,
      description: 'Entries with fewer units than this.',
    }),
  },
  sorts: { petId: ['petId'], quantity: ['quantity', 'petId'] },
  defaultSort: 'petId',
});

export type StockQuery = QueryOf<typeof stockList>;
