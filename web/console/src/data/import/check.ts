import type { PetStore } from '@petstore/client';
import { CategoryNames } from '../../../../../cli/src/import/category-names.ts';
import { type NewPet, petOf, Rejection } from '../../../../../cli/src/import/pet-rules.ts';
import type { Mapping } from './columns.ts';
import type { CsvFile, CsvRow } from './csv.ts';
import type { BadRow } from './rejected.ts';

/** How many rows are checked before the page can be drawn again. */
const SLICE = 2_000;

/** A row that can be imported. */
export interface GoodRow {
  row: CsvRow;
  pet: NewPet;
}

export interface Checked {
  good: readonly GoodRow[];
  bad: readonly BadRow[];
}

/** Checks the rows of a file by the rules of the service, without writing anything. */
export async function checkRows(
  store: Pick<PetStore, 'categories'>,
  { header, rows, delimiter }: CsvFile,
  mapping: Mapping,
  createsCategories: boolean,
  signal: AbortSignal,
): Promise<Checked> {
  const categories = new CategoryNames(store, { signal }, false);
  const good: GoodRow[] = [];
  const bad: BadRow[] = [];
  for (const [i, row] of rows.entries()) {
    if (i % SLICE === SLICE - 1) await new Promise(resolve => setTimeout(resolve));
    signal.throwIfAborted();
    try {
      if (row.cells.length !== header.length)
        throw new Rejection(
          'invalid_request',
          `The row has ${row.cells.length} cells, but the header has ${header.length}: put a cell with ${JSON.stringify(delimiter)} in quotes`,
        );
      const pet = petOf(valuesOf(row, mapping));
      await checkCategory(categories, pet, createsCategories);
      good.push({ row, pet });
    } catch (error) {
      if (!(error instanceof Rejection)) throw error;
      bad.push({ row, code: error.code, message: error.message });
    }
  }
  return { good, bad };
}

function valuesOf({ cells }: CsvRow, mapping: Mapping): Record<string, string> {
  const entries = mapping.map((field, i) => [field, cells[i] ?? ''] as const);
  return Object.fromEntries(entries.filter(([field]) => field !== ''));
}

/** Throws a `Rejection` if the category of a pet does not exist, and is not to be created. */
export async function checkCategory(
  categories: CategoryNames,
  { category }: NewPet,
  createsCategories: boolean,
): Promise<void> {
  if (typeof category === 'string' && createsCategories) return;
  if (await categories.has(category)) return;
  throw new Rejection(
    'unknown_category',
    typeof category === 'number'
      ? `There is no category with the ID ${category}: correct the ID`
      : `There is no category ${JSON.stringify(category)}: correct the name, or let the import create it`,
  );
}
