import { PetStatus } from '../catalog/pets/pet.ts';
import { stockTable } from '../catalog/pets/pet-queries.ts';
import { below, defineList, is, type QueryOf } from '../db/list.ts';

export const stockList = defineList(stockTable, {
  filters: { status: is('status', PetStatus.enum), quantityBelow: below('quantity') },
  sorts: { petId: ['petId'], quantity: ['quantity', 'petId'] },
  defaultSort: 'petId',
  indexes: [
    { columns: ['id'] },
    { name: 'pets_by_status', order: 1, columns: ['status', 'id'] },
    { name: 'pets_by_status_and_quantity', order: 5, columns: ['status', 'quantity', 'id'] },
  ],
});

export type StockQuery = QueryOf<typeof stockList>;
