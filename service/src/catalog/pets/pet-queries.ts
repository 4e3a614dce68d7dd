import type { Queries, Transaction } from '../../db/database.ts';
import { insertInto } from '../../db/insert.ts';
import type { List, SortOf } from '../../db/list.ts';
import { type Listing, selectPage, startsWith } from '../../db/select-page.ts';
import type { Page } from '../../kit/paging.ts';
import { foldCase } from '../../kit/text.ts';
import { type NewPet, PetStatus } from './pet.ts';
import type { Stock } from './stock.ts';

export interface PetRow {
  id: number;
  name: string;
  name_key: string;
  category_id: number;
  status: PetStatus;
}

/** A pet with all that its rules ask for. */
export interface PetWithStockRow extends PetRow {
  quantity: number;
  has_open_orders: 0 | 1;
}

const COLUMNS = 'id, name, name_key, category_id, status';

export function selectPet(db: Queries, petId: number): Promise<PetRow | undefined> {
  return db.get(`SELECT ${COLUMNS} FROM pets WHERE id = ?`, [petId]);
}

/** Keeps the stock of pets from other transactions until this one ends. */
export function lockStock(tx: Transaction, ...petIds: readonly number[]): Promise<void> {
  return tx.lock(...petIds.map(petId => `pet ${petId}`));
}

/** Reads a pet that may be changed, and locks its stock. */
export async function selectPetToChange(
  tx: Transaction,
  petId: number,
): Promise<PetWithStockRow | undefined> {
  const [, row] = await Promise.all([
    lockStock(tx, petId),
    tx.get<PetWithStockRow>(
      `SELECT ${COLUMNS}, quantity,
         CASE WHEN EXISTS (SELECT 1 FROM orders WHERE open_pet_id = pets.id) THEN 1 ELSE 0 END AS has_open_orders
       FROM pets WHERE id = ?`,
      [petId],
    ),
  ]);
  return row;
}

const INSERT = insertInto('pets', ['name', 'name_key', 'status', 'quantity'], {
  column: 'category_id',
  table: 'categories',
});

/** Returns the ID of the pet; `undefined` when the category does not exist. */
export function insertPet(
  tx: Transaction,
  { name, categoryId }: NewPet,
  status: PetStatus,
  quantity: number,
): Promise<number | undefined> {
  return tx.insert(INSERT, [name, foldCase(name), status, quantity, categoryId]);
}

/** Answers `undefined` when the category does not exist. */
export function updatePet(
  db: Queries,
  { name, categoryId }: NewPet,
  { petId, status, quantity }: Stock,
): Promise<PetRow | undefined> {
  return db.get(
    `UPDATE pets SET name = ?, name_key = ?, category_id = ?, status = ?, quantity = ?
     WHERE id = ? AND EXISTS (SELECT 1 FROM categories WHERE id = ?)
     RETURNING ${COLUMNS}`,
    [name, foldCase(name), categoryId, status, quantity, petId, categoryId],
  );
}

export function updateStock(db: Queries, { petId, status, quantity }: Stock): Promise<number> {
  return db.run('UPDATE pets SET status = ?, quantity = ? WHERE id = ?', [status, quantity, petId]);
}

export function deletePet(db: Queries, petId: number): Promise<number> {
  return db.run('DELETE FROM pets WHERE id = ?', [petId]);
}

export const petList = {
  table: 'pets',
  columns: COLUMNS,
  equal: { category_id: null, status: PetStatus.enum },
  sorts: { id: { id: 'number' }, name: { name_key: 'string', id: 'number' } },
  defaultSort: 'id',
  range: { filters: ['name'], sort: 'name' },
  indexes: [
    { columns: ['id'] },
    { name: 'pets_by_status', order: 1, columns: ['status', 'id'] },
    { name: 'pets_by_status_and_name', order: 2, columns: ['status', 'name_key', 'id'] },
    { name: 'pets_by_category_and_status', order: 3, columns: ['category_id', 'status', 'id'] },
    {
      name: 'pets_by_category_status_and_name',
      order: 4,
      key: "name_key || ''",
      columns: ['category_id', 'status', 'name_key', 'id'],
    },
  ],
} as const satisfies List<PetRow>;

export type PetSort = SortOf<typeof petList>;

export interface PetFilter {
  id?: readonly number[] | undefined;
  status?: PetStatus | undefined;
  categoryId?: number | undefined;
  name?: string | undefined;
}

export function selectPets(
  db: Queries,
  { id, status, categoryId, name }: PetFilter,
  listing: Listing<PetSort>,
): Promise<Page<PetRow>> {
  return selectPage<PetRow>(
    db,
    petList,
    { ids: id, equal: { category_id: categoryId, status }, ...startsWith(name && foldCase(name)) },
    listing,
  );
}
