import { ApiError } from '../../contract/errors.ts';
import type { Queries, Transaction, Writer } from '../../db/database.ts';
import type { Listing } from '../../db/select-page.ts';
import { appendEvent } from '../../events/event-log/append.ts';
import { mapPage, type Page } from '../../kit/paging.ts';
import type { Category, NewCategory } from './category.ts';
import {
  type CategoryFilter,
  type CategoryRow,
  type CategorySort,
  categoryHasPets,
  deleteCategory,
  insertCategory,
  selectCategories,
  selectCategory,
  selectCategoryIdByName,
  selectCategoryToChange,
  updateCategory,
} from './category-queries.ts';

export async function list(
  db: Queries,
  filter: CategoryFilter,
  listing: Listing<CategorySort>,
): Promise<Page<Category>> {
  return mapPage(await selectCategories(db, filter, listing), toCategory);
}

export async function read(db: Queries, categoryId: number): Promise<Category> {
  return toCategory(found(await selectCategory(db, categoryId), categoryId));
}

export function create(db: Writer, category: NewCategory): Promise<Category> {
  return db.write(async tx => {
    await refuseTakenName(tx, category.name);
    const created = toCategory(await insertCategory(tx, category));
    appendEvent(tx, 'category.created', created.id, created);
    return created;
  });
}

/** Replaces a category by what `change` makes of it. */
export function update(
  db: Writer,
  categoryId: number,
  change: (current: Category) => NewCategory,
): Promise<Category> {
  return db.write(async tx => {
    const current = toCategory(found(await selectCategoryToChange(tx, categoryId), categoryId));
    const category = change(current);
    await refuseTakenName(tx, category.name, categoryId);
    const updated = toCategory(await updateCategory(tx, categoryId, category));
    const same = updated.name === current.name && updated.description === current.description;
    if (!same) appendEvent(tx, 'category.updated', categoryId, updated);
    return updated;
  });
}

export function remove(db: Writer, categoryId: number, guard: (current: Category) => void): Promise<void> {
  return db.write(async tx => {
    const category = toCategory(found(await selectCategoryToChange(tx, categoryId), categoryId));
    guard(category);
    if (await categoryHasPets(tx, categoryId)) {
      throw new ApiError(
        'category_in_use',
        `Category ${categoryId} still has pets; move or delete them first`,
      );
    }
    await deleteCategory(tx, categoryId);
    appendEvent(tx, 'category.deleted', categoryId, category);
  });
}

async function refuseTakenName(tx: Transaction, name: string, exceptId?: number): Promise<void> {
  const holder = await selectCategoryIdByName(tx, name);
  if (holder && holder.id !== exceptId) {
    throw new ApiError(
      'category_name_taken',
      `The name "${name}" is taken by category ${holder.id}; upper and lower case count as equal`,
    );
  }
}

function found(row: CategoryRow | undefined, categoryId: number): CategoryRow {
  if (!row) throw new ApiError('category_not_found', `There is no category ${categoryId}`);
  return row;
}

function toCategory({ id, name, description }: CategoryRow): Category {
  return description === null ? { id, name } : { id, name, description };
}
