import type { PetStatus } from '../catalog/pets/pet.ts';
import type { Queries } from '../db/database.ts';
import { type Condition, type Listing, type Sorts, selectPage } from '../db/select-page.ts';
import type { Page } from '../kit/paging.ts';

export interface StockRow {
  id: number;
  status: PetStatus;
  quantity: number;
}

const SELECT = 'SELECT id, status, quantity FROM pets';

const sorts = {
  petId: { columns: ['id'], keyOf: ({ id }: StockRow) => [id], types: ['number'] },
} as const satisfies Sorts<StockRow>;

export type InventorySort = keyof typeof sorts;

export interface InventoryFilter {
  status?: PetStatus | undefined;
  quantityBelow?: number | undefined;
}

export function selectStock(db: Queries, petId: number): Promise<StockRow | undefined> {
  return db.get(`${SELECT} WHERE id = ?`, [petId]);
}

export function selectStocks(
  db: Queries,
  { status, quantityBelow }: InventoryFilter,
  listing: Listing<InventorySort>,
): Promise<Page<StockRow>> {
  const where: Condition[] = [];
  if (status !== undefined) where.push(['status = ?', status]);
  if (quantityBelow !== undefined) where.push(['quantity < ?', quantityBelow]);
  return selectPage(db, SELECT, where, sorts, listing);
}
