import type { PetStore } from '@petstore/client';
import {
  type CategoryCreation,
  CategoryNames,
  type CsvRow,
  type ImportedPet,
  petOf,
  Rejection,
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
  const categories = new CategoryNames(store, { signal }, creationOf(createsCategories));
  const good: GoodRow[] = [];
  const bad: BadRow[] = [];
  for (const [i, row] of rows.entries()) {
    if (i % SLICE === SLICE - 1) await new Promise(resolve => setTimeout(resolve));
    signal.throwIfAborted();
    try {
      const problem = widthProblem(row.cells, header, delimiter);
      if (problem !== undefined) throw new Rejection('invalid_request', problem);
      const pet = petOf(valuesOf(row, mapping));
      await categories.check(pet.category);
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

export function creationOf(creates: boolean): CategoryCreation {
  return { creates, howTo: 'let the import create it' };
}
