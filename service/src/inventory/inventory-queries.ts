import { categoryIdColumn, PetStatus } from '../catalog/pets/pet.ts';
import { stockTable } from '../catalog/pets/pet-queries.ts';
import { anyOf, below, defineList, is, oneOf, type QueryOf } from '../db/list.ts';

export const stockList = defineList(stockTable, {
  filters: {
    petId: oneOf('petId'),
    status: anyOf('status', PetStatus.enum),
    categoryId: is(categoryIdColumn),
    quantityBelow: below('quantity'),
  },
  sorts: { petId: ['petId'], quantity: ['quantity', 'petId'] },
  defaultSort: 'petId',
  indexes: [
    { columns: ['id'] },
    { name: 'pets_by_status', order: 1, columns: ['status', 'id'] },
    { name: 'pets_by_status_and_quantity', order: 5, columns: ['status', 'quantity', 'id'] },
    { name: 'pets_by_category_and_status', order: 3, columns: ['category_id', 'status', 'id'] },
    {
      name: 'pets_by_category_status_and_quantity',
      order: 6,
      key: 'quantity + 0',
      columns: ['category_id', 'status', 'quantity', 'id'],
    },
  ],
});

export type StockQuery = QueryOf<typeof stockList>;
