import type { BatchEntry, Pet, PetStore } from '@petstore/client';
import { notifyManager } from '@tanstack/react-query';
import type { Session } from '../app/session.ts';
import { type BatchRun, runInBatches } from './batches.ts';
import type { ReversibleChange } from './bulk.ts';
import { readFacts } from './facts.ts';
import { putItem } from './list-cache.ts';
import type { StatusFacts } from './pet-status.ts';
import { pets as resource } from './pets.ts';
import { showChanged } from './stock-of.ts';

/** A pet before and after a change. */
export interface Written {
  before: Pet;
  after: Pet | undefined;
  etag: string | undefined;
}

/** Writes the old values of the pets that no other client has changed since. */
export function revertAll(
  session: Session,
  written: readonly Written[],
  change: ReversibleChange,
): Promise<void> {
  return writeBack(session, written, written.length, {
    add: (batch, { before, etag }) => [
      batch.pets.update(before.id, oldValues(before, change), etag === undefined ? {} : { ifMatch: etag }),
    ],
    perItem: 1,
  });
}

/** Returns the units of a sale to the pets whose stock no other client has set since, and puts those on hold that were. */
export async function revertSale(
  session: Session,
  written: readonly Written[],
  facts: ReadonlyMap<number, StatusFacts>,
): Promise<void> {
  const now = await readFacts(
    session,
    written.map(({ before }) => before.id),
  );
  const unchanged = written.filter(({ before }) => now.get(before.id)?.stock === 0);
  await writeBack(session, unchanged, written.length, {
    add: (batch, { before: { id, status } }) => {
      const delta = facts.get(id)?.stock ?? 0;
      const entries: BatchEntry[] = [batch.inventory.adjust(id, { delta })];
      // More units than 0 make it available.
      entries.push(batch.pets.update(id, { status: status ?? 'available' }));
      return entries;
    },
    perItem: 2,
  });
}

/** Sends the operations that undo a change of `total` pets, and rejects with the number of those that are not as before. */
async function writeBack(
  session: Session,
  written: readonly Written[],
  total: number,
  run: Pick<BatchRun<Written>, 'add' | 'perItem'>,
): Promise<void> {
  let failed = total - written.length;
  await runInBatches(session, written, {
    ...run,
    onResults: items => {
      failed += items.filter(({ error }) => error !== undefined).length;
      notifyManager.batch(() => {
        for (const { results, error } of items) {
          const pet = results.at(-1)?.body;
          if (error === undefined && pet) putItem(session.cache, resource, pet as Pet);
        }
      });
      showChanged(
        session,
        items.map(({ item: { before } }) => before.id),
      );
    },
  });
  if (failed > 0)
    throw new Error(
      `${failed} of ${total} animals were not changed back, because they were changed again since or a rule does not allow it`,
    );
}

function oldValues(before: Pet, { kind }: ReversibleChange): Parameters<PetStore['pets']['update']>[1] {
  return kind === 'status' ? { status: before.status ?? 'available' } : { categoryId: before.categoryId };
}
