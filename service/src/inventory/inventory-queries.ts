import { PetStatus } from '../catalog/pets/pet.ts';
import type { Queries } from '../db/database.ts';
import type { List, SortOf } from '../db/list.ts';
import { type Listing, selectPage } from '../db/select-page.ts';
import type { Page } from '../kit/paging.ts';

export interface StockRow {
  id: number;
  status: PetStatus;
  quantity: number;
}

const COLUMNS = 'id, status, quantity';

export const stockList = {
  table: 'pets',
  columns: COLUMNS,
  equal: { status: PetStatus.enum },
  sorts: { petId: { id: 'number' }, quantity: { quantity: 'number', id: 'number' } },
  defaultSort: 'petId',
  range: { filters: ['quantityBelow'], sort: 'quantity' },
  indexes: [
    { columns: ['id'] },
    { name: 'pets_by_status', order: 1, columns: ['status', 'id'] },
    { name: 'pets_by_status_and_quantity', order: 5, columns: ['status', 'quantity', 'id'] },
  ],
} as const satisfies List<StockRow>;

export type InventorySort = SortOf<typeof stockList>;

export interface InventoryFilter {
  status?: PetStatus | undefined;
  quantityBelow?: number | undefined;
}

export function selectStock(db: Queries, petId: number): Promise<StockRow | undefined> {
  return db.get(`SELECT ${COLUMNS} FROM pets WHERE id = ?`, [petId]);
}

export function selectStocks(
  db: Queries,
  { status, quantityBelow }: InventoryFilter,
  listing: Listing<InventorySort>,
): Promise<Page<StockRow>> {
  return selectPage<StockRow>(db, stockList, { equal: { status }, to: quantityBelow }, listing);
}
