import { ApiError } from '../../contract/errors.ts';
import type { Queries, Transaction, Writer } from '../../db/database.ts';
import { selectPage } from '../../db/select-page.ts';
import type { Page } from '../../kit/paging.ts';
import { type Category, categoryEvents, categoryTable, type NewCategory } from './category.ts';
import {
  type CategoryQuery,
  categoryHasPets,
  categoryList,
  selectCategoryIdByName,
  selectCategoryToChange,
} from './category-queries.ts';

export function list(db: Queries, query: CategoryQuery): Promise<Page<Category>> {
  return selectPage(db, categoryList, query);
}

export function read(db: Queries, categoryId: number): Promise<Category> {
  return categoryTable.read(db, categoryId, categoryNotFound);
}

export function create(db: Writer, category: NewCategory): Promise<Category> {
  return db.write(async tx => {
    await rejectTakenName(tx, category.name);
    const created = await categoryTable.insert(tx, category);
    categoryEvents.append(tx, 'category.created', created.id, created);
    return created;
  });
}

/** Replaces a category with the result of `change`. */
export function update(
  db: Writer,
  categoryId: number,
  change: (current: Category) => NewCategory,
): Promise<Category> {
  return db.write(async tx => {
    const current = found(await selectCategoryToChange(tx, categoryId), categoryId);
    const category = change(current);
    await rejectTakenName(tx, category.name, categoryId);
    const updated = await categoryTable.update(tx, categoryId, category);
    if (categoryTable.differ(current, updated))
      categoryEvents.append(tx, 'category.updated', categoryId, updated, { before: current });
    return updated;
  });
}

export function remove(db: Writer, categoryId: number, guard: (current: Category) => void): Promise<void> {
  return db.write(async tx => {
    const category = found(await selectCategoryToChange(tx, categoryId), categoryId);
    guard(category);
    if (await categoryHasPets(tx, categoryId)) {
      throw new ApiError(
        'category_in_use',
        `Category ${categoryId} still has pets; move or delete them first`,
      );
    }
    categoryTable.sendDelete(tx, categoryId);
    categoryEvents.append(tx, 'category.deleted', categoryId, category);
  });
}

async function rejectTakenName(tx: Transaction, name: string, exceptId?: number): Promise<void> {
  const other = await selectCategoryIdByName(tx, name);
  if (other && other.id !== exceptId) {
    throw new ApiError(
      'category_name_taken',
      `The name "${name}" is taken by category ${other.id}; names are unique without regard to case`,
    );
  }
}

function found(category: Category | undefined, categoryId: number): Category {
  if (!category) throw categoryNotFound(categoryId);
  return category;
}

function categoryNotFound(categoryId: number): ApiError {
  return new ApiError('category_not_found', `There is no category ${categoryId}`);
}
