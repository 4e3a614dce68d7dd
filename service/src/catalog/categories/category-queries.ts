import type { Queries, Transaction } from '../../db/database.ts';
import type { List, SortOf } from '../../db/list.ts';
import { type Listing, selectPage, startsWith } from '../../db/select-page.ts';
import type { Page } from '../../kit/paging.ts';
import { foldCase } from '../../kit/text.ts';
import type { NewCategory } from './category.ts';

export interface CategoryRow {
  id: number;
  name: string;
  name_key: string;
  description: string | null;
}

const COLUMNS = 'id, name, name_key, description';

export function selectCategory(db: Queries, categoryId: number): Promise<CategoryRow | undefined> {
  return db.get(`SELECT ${COLUMNS} FROM categories WHERE id = ?`, [categoryId]);
}

/** Reads a category that may be changed, and keeps it from other transactions until this one ends. */
export async function selectCategoryToChange(
  tx: Transaction,
  categoryId: number,
): Promise<CategoryRow | undefined> {
  const [, row] = await Promise.all([tx.lock(`category ${categoryId}`), selectCategory(tx, categoryId)]);
  return row;
}

export function selectCategoryIdByName(db: Queries, name: string): Promise<{ id: number } | undefined> {
  return db.get('SELECT id FROM categories WHERE name_key = ?', [foldCase(name)]);
}

export function insertCategory(db: Queries, { name, description }: NewCategory): Promise<CategoryRow> {
  return db.get(
    `INSERT INTO categories (name, name_key, description) VALUES (?, ?, ?) RETURNING ${COLUMNS}`,
    [name, foldCase(name), description ?? null],
  ) as Promise<CategoryRow>;
}

export function updateCategory(
  db: Queries,
  categoryId: number,
  { name, description }: NewCategory,
): Promise<CategoryRow> {
  return db.get(
    `UPDATE categories SET name = ?, name_key = ?, description = ? WHERE id = ? RETURNING ${COLUMNS}`,
    [name, foldCase(name), description ?? null, categoryId],
  ) as Promise<CategoryRow>;
}

export async function categoryHasPets(db: Queries, categoryId: number): Promise<boolean> {
  return (await db.get('SELECT 1 FROM pets WHERE category_id = ? LIMIT 1', [categoryId])) !== undefined;
}

export function deleteCategory(db: Queries, categoryId: number): Promise<number> {
  return db.run('DELETE FROM categories WHERE id = ?', [categoryId]);
}

export const categoryList = {
  table: 'categories',
  columns: COLUMNS,
  equal: {},
  // Names are unique without regard to case.
  sorts: { id: { id: 'number' }, name: { name_key: 'string' } },
  defaultSort: 'id',
  range: { filters: ['name'], sort: 'name' },
  indexes: [{ columns: ['id'] }, { columns: ['name_key'] }],
} as const satisfies List<CategoryRow>;

export type CategorySort = SortOf<typeof categoryList>;

export interface CategoryFilter {
  name?: string | undefined;
}

export function selectCategories(
  db: Queries,
  { name }: CategoryFilter,
  listing: Listing<CategorySort>,
): Promise<Page<CategoryRow>> {
  return selectPage<CategoryRow>(db, categoryList, startsWith(name && foldCase(name)), listing);
}
