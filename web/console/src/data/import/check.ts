import type { CallOptions, PetStore } from '@petstore/client';
import {
  type CategoryCreation,
  CategoryNames,
  type CsvRow,
  ExistingPets,
  type ImportedPet,
  petOf,
  Rejection,
  RowNames,
  widthProblem,
} from '@petstore/pet-files';
import type { Mapping } from './columns.ts';
import type { CsvFile } from './csv.ts';
import type { BadRow } from './rejected.ts';

/** How many rows are checked before the page can be drawn again. */
const SLICE = 2_000;

/** A row that can be imported. */
export interface GoodRow {
  row: CsvRow;
  pet: ImportedPet;
}

export interface Checked {
  good: readonly GoodRow[];
  /** Rows that could be imported, but whose name and category an animal or an earlier row has. */
  existing: readonly GoodRow[];
  bad: readonly BadRow[];
}

/** The categories and animals of the shop, which are read once for a file, and again after a restore, however often its rows are checked. */
interface ShopNames {
  categories: CategoryNames;
  /** Creates what it does not find. */
  newCategories: CategoryNames;
  existing: ExistingPets;
}

export function namesOfShop(store: Pick<PetStore, 'categories' | 'pets'>, calls: CallOptions): ShopNames {
  return {
    categories: new CategoryNames(store, calls, creationOf(false)),
    newCategories: new CategoryNames(store, calls, creationOf(true)),
    existing: new ExistingPets(store, calls),
  };
}

/** Checks the rows of a file by the rules of the service, without writing anything. */
export async function checkRows(
  names: ShopNames,
  { header, rows, delimiter }: CsvFile,
  mapping: Mapping,
  createsCategories: boolean,
  signal: AbortSignal,
): Promise<Checked> {
  const categories = createsCategories ? names.newCategories : names.categories;
  const found = new RowNames(names.existing);
  const good: GoodRow[] = [];
  const existing: GoodRow[] = [];
  const bad: BadRow[] = [];
  for (const [i, row] of rows.entries()) {
    if (i % SLICE === SLICE - 1) await new Promise(resolve => setTimeout(resolve));
    signal.throwIfAborted();
    try {
      const problem = widthProblem(row.cells, header, delimiter);
      if (problem !== undefined) throw new Rejection('invalid_request', problem);
      const pet = petOf(valuesOf(row, mapping));
      await categories.check(pet.category);
      const category = (await categories.known(pet.category)) ?? pet.category;
      const exists = await found.findOrAdd(pet.name, category);
      (exists ? existing : good).push({ row, pet });
    } catch (error) {
      if (!(error instanceof Rejection)) throw error;
      bad.push({ row, code: error.code, message: error.message, field: error.field });
    }
  }
  return { good, existing, bad };
}

function valuesOf({ cells }: CsvRow, mapping: Mapping): Record<string, string> {
  const entries = mapping.map((field, i) => [field, cells[i] ?? ''] as const);
  return Object.fromEntries(entries.filter(([field]) => field !== ''));
}

export function creationOf(creates: boolean): CategoryCreation {
  return { creates, howTo: 'let the import create it' };
}
