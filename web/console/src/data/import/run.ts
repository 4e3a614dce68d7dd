import type { Batch, BatchEntry, Order, Pet } from '@petstore/client';
import { CategoryNames, type CreatedCategory, completionOf, newPetOf, Rejection } from '@petstore/pet-files';
import { type BatchSession, type ItemResult, runInBatches } from '../batches.ts';
import { creationOf, type GoodRow } from './check.ts';
import type { BadRow } from './rejected.ts';

/** An animal that an import has created. */
export interface CreatedPet {
  pet: Pick<Pet, 'id' | 'name'>;
  etag: string | undefined;
  /** The order that holds its unit. */
  order: { id: number; etag: string | undefined } | undefined;
  /** Its stock at the end of the import. */
  stock: number;
}

/** The code of the rows that were left out when the user stopped the import. */
const STOPPED = 'stopped';

/** The rows that were rejected, without those that were left out when the user stopped the import. */
export const faultyOf = (rejected: readonly BadRow[]) => rejected.filter(({ code }) => code !== STOPPED);

/** What became of the rows of an import so far. */
export interface ImportProgress {
  total: number;
  done: number;
  /** How many rows are being sent, or wait for the limit: if the page is left now, the console cannot know what became of them. */
  sending: number;
  created: readonly CreatedPet[];
  categories: readonly CreatedCategory[];
  /** Rows that were not imported. */
  rejected: readonly BadRow[];
  /** Rows whose animals were created without their stock. */
  incomplete: readonly BadRow[];
  isRunning: boolean;
}

interface Item {
  source: GoodRow;
  categoryId: number;
}

/**
 * Imports rows, and reports its progress after each step. Rows that it does not reach, because it was stopped or a batch was
 * rejected as a whole, are among the rejected ones.
 */
export async function importRows(
  session: BatchSession,
  rows: readonly GoodRow[],
  createsCategories: boolean,
  signal: AbortSignal,
  onProgress: (progress: ImportProgress) => void,
): Promise<ImportProgress> {
  const names = new CategoryNames(session.store, {}, creationOf(createsCategories));
  let progress: ImportProgress = {
    total: rows.length,
    done: 0,
    sending: 0,
    created: [],
    categories: names.created,
    rejected: [],
    incomplete: [],
    isRunning: true,
  };
  const report = (change: Partial<ImportProgress>) => {
    progress = { ...progress, ...change };
    onProgress(progress);
  };
  const rest = new Set(rows);
  let reason = { code: STOPPED, message: 'The import was stopped before this row' };
  report({});
  try {
    const { items, rejected } = await withCategories(names, rows, signal);
    for (const { source } of rejected) rest.delete(source);
    report({
      done: rejected.length,
      rejected: rejected.map(({ source, ...why }) => ({ row: source.row, ...why })),
    });
    await runInBatches(session, items, {
      add: operationsOf,
      perItem: items.some(({ source }) => completionOf(source.pet)) ? 2 : 1,
      signal,
      onSend: items => report({ sending: items.length }),
      onResults: results => {
        for (const { item } of results) rest.delete(item.source);
        report({
          done: progress.done + results.length,
          sending: 0,
          created: [...progress.created, ...results.flatMap(createdBy)],
          rejected: [...progress.rejected, ...results.flatMap(result => failureOf(result, 0))],
          incomplete: [...progress.incomplete, ...results.flatMap(result => failureOf(result, 1))],
        });
      },
    });
  } catch (error) {
    reason = { code: 'not_imported', message: (error as Error).message };
  }
  const left = Array.from(rest, ({ row }) => ({ row, ...reason }));
  report({ rejected: [...progress.rejected, ...left], sending: 0, isRunning: false });
  return progress;
}

/** Finds the categories of rows, or creates them. They may have been deleted since the check, and the service may reject a name. */
async function withCategories(categories: CategoryNames, rows: readonly GoodRow[], signal: AbortSignal) {
  const items: Item[] = [];
  const rejected: { source: GoodRow; code: string; message: string }[] = [];
  for (const source of rows) {
    if (signal.aborted) break;
    const { category } = source.pet;
    try {
      await categories.check(category);
      items.push({ source, categoryId: await categories.find(category) });
    } catch (error) {
      if (!(error instanceof Rejection)) throw error;
      rejected.push({ source, code: error.code, message: error.message });
    }
  }
  return { items, rejected };
}

function operationsOf(batch: Batch, { source: { pet }, categoryId }: Item): readonly BatchEntry[] {
  const created = batch.pets.create(newPetOf(pet, categoryId));
  const completion = completionOf(pet);
  if (!completion) return [created];
  const { kind, quantity } = completion;
  const completed =
    kind === 'stock'
      ? batch.inventory.set(created, { quantity })
      : batch.orders.create({ petId: created, quantity });
  return [created, completed];
}

/** The animal of a row, if it was created. */
function createdBy({ item: { source }, results: [first, second] }: ItemResult<Item>): CreatedPet[] {
  const pet = first?.body as Pet | undefined;
  if (!pet) return [];
  const completion = second?.error ? undefined : completionOf(source.pet);
  const stock =
    completion?.kind === 'stock' ? completion.quantity : completion || pet.status === 'sold' ? 0 : 1;
  const order = completion?.kind === 'order' ? (second?.body as Order) : undefined;
  const { id, name } = pet;
  return [
    {
      pet: { id, name },
      etag: first!.etag,
      order: order && { id: order.id!, etag: second!.etag },
      stock,
    },
  ];
}

/** Why the first or second operation of a row failed. Without its pet a stock cannot be set, which is not reported again. */
function failureOf({ item, results }: ItemResult<Item>, index: 0 | 1): BadRow[] {
  const failed = results.findIndex(({ error }) => error);
  const error = results[failed]?.error;
  return error && failed === index
    ? [{ row: item.source.row, code: error.code, message: error.message }]
    : [];
}
