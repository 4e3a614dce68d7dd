import type { BatchEntry } from '@petstore/client';
import type { CreatedCategory } from '@petstore/pet-files';
import type { Session } from '../../app/session.ts';
import { type ItemResult, runInBatches } from '../batches.ts';
import { readFacts } from '../facts.ts';
import type { StatusFacts } from '../pet-status.ts';
import type { CreatedPet, ImportProgress } from './run.ts';

/** What has to be known of an import to undo it. */
export type Undoable = Pick<ImportProgress, 'sending' | 'created' | 'categories'>;

/** What became of undoing an import so far. */
export interface UndoProgress {
  total: number;
  done: number;
  deleted: number;
  /** How many rows may have created animals that the console does not know. */
  unknown: number;
  /** What stays, and why. */
  kept: readonly { name: string; message: string }[];
  isRunning: boolean;
  /** Whether each animal and category was looked at. An error of a batch ends it earlier. */
  isComplete: boolean;
}

/**
 * Deletes the animals and categories that an import has created, with the orders that it has placed. What somebody has worked with
 * since stays: a changed or sold animal, one with other orders, and a changed category or one with other animals.
 */
export async function undoImport(
  session: Session,
  { sending, created, categories }: Undoable,
  onProgress: (progress: UndoProgress) => void,
): Promise<UndoProgress> {
  let progress: UndoProgress = {
    total: created.length,
    done: 0,
    deleted: 0,
    unknown: sending,
    kept: [],
    isRunning: true,
    isComplete: false,
  };
  const report = (change: Partial<UndoProgress>) => {
    progress = { ...progress, ...change };
    onProgress(progress);
  };
  report({});
  try {
    const facts = await readFacts(
      session,
      created.map(({ pet }) => pet.id),
    );
    const changed = created.flatMap(item => reasonToKeep(item, facts.get(item.pet.id)));
    const same = created.filter(item => reasonToKeep(item, facts.get(item.pet.id)).length === 0);
    report({ done: changed.length, kept: changed });
    await runInBatches(session, same, {
      add: (batch, { pet, etag, order }) => {
        const entries: BatchEntry[] = order ? [batch.orders.cancel(order.id, ifMatch(order.etag))] : [];
        return [...entries, batch.pets.delete(pet.id, ifMatch(etag))];
      },
      perItem: same.some(({ order }) => order) ? 2 : 1,
      onResults: results => {
        const kept = results.flatMap(failureOf);
        report({
          done: progress.done + results.length,
          deleted: progress.deleted + results.length - kept.length,
          kept: [...progress.kept, ...kept],
        });
      },
    });
    await runInBatches(session, categories, {
      add: (batch, { id, etag }) => [batch.categories.delete(id, ifMatch(etag))],
      perItem: 1,
      onResults: results => report({ kept: [...progress.kept, ...results.flatMap(keptCategory)] }),
    });
    report({ isComplete: true });
  } catch (error) {
    report({ kept: [...progress.kept, { name: 'The rest', message: (error as Error).message }] });
  }
  report({ isRunning: false });
  return progress;
}

/** What prevents a deletion, by the code of the error. */
const reasons: Record<string, string> = {
  precondition_failed: 'It was changed since',
  pet_has_open_orders: 'It has open orders',
  category_in_use: 'The category has other animals',
};

const ifMatch = (etag: string | undefined) => (etag === undefined ? {} : { ifMatch: etag });

function reasonToKeep({ pet: { name }, stock }: CreatedPet, facts: StatusFacts | undefined) {
  const now = facts?.stock;
  if (now === undefined || now === stock) return [];
  const message = `Its stock has changed since: ${now.toLocaleString()} instead of ${stock.toLocaleString()}`;
  return [{ name, message }];
}

/** Why an animal was not deleted. One that somebody else has deleted needs no mention. */
function failureOf({ item: { pet, order }, results }: ItemResult<CreatedPet>) {
  const error = results.at(-1)?.error;
  if (!error || error.code === 'pet_not_found') return [];
  const reason = reasons[error.code] ?? error.message;
  const message = order && !results[0]?.error ? `${reason}. Its order was cancelled` : reason;
  return [{ name: pet.name, message }];
}

/** The same of a category. */
function keptCategory({ item: { name }, results: [result] }: ItemResult<CreatedCategory>) {
  const { error } = result!;
  if (!error || error.code === 'category_not_found') return [];
  return [{ name, message: reasons[error.code] ?? error.message }];
}
