import { nameText } from '../../contract/schema.ts';
import type { Queries, Transaction } from '../../db/database.ts';
import { defineList } from '../../db/define-list.ts';
import { type QueryOf, startsWith } from '../../db/list.ts';
import { foldCase } from '../../kit/text.ts';
import { type Category, categoryTable } from './category.ts';

/** The lock of a category. */
export function lockOfCategory(categoryId: number): string {
  return `category ${categoryId}`;
}

/** Reads a category and locks it until the transaction ends. */
export async function selectCategoryToChange(
  tx: Transaction,
  categoryId: number,
): Promise<Category | undefined> {
  const [, category] = await Promise.all([
    tx.lock(lockOfCategory(categoryId)),
    categoryTable.find(tx, categoryId),
  ]);
  return category;
}

export function selectCategoryIdByName(db: Queries, name: string): Promise<{ id: number } | undefined> {
  return db.get('SELECT id FROM categories WHERE name_key = ?', [foldCase(name)]);
}

export async function categoryHasPets(db: Queries, categoryId: number): Promise<boolean> {
  return (await db.get('SELECT 1 FROM pets WHERE category_id = ? LIMIT 1', [categoryId])) !== undefined;
}

export const categoryList = defineList(categoryTable, {
  filters: {
    name: startsWith('name', {
      ...nameText,
      example: 'do',
      description: 'Categories whose name starts with this text, without regard to case.',
    }),
  },
  // Names are unique without regard to case.
  sorts: { id: ['id'], name: ['name'] },
  defaultSort: 'id',
});

export type CategoryQuery = QueryOf<typeof categoryList>;
