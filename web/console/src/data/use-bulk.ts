import type { Pet } from '@petstore/client';
import { notifyManager, useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { type Session, useSession } from '../app/session.ts';
import { askingToLeave } from '../kit/asking-to-leave.ts';
import { useToasts } from '../kit/toasts.ts';
import { type ItemResult, runInBatches } from './batches.ts';
import { type BulkChange, isReversible, isSale, patchOf, type ReversibleChange } from './bulk.ts';
import { revertAll, revertSale, type Written } from './bulk-undo.ts';
import { putResult } from './changes.ts';
import { readFacts } from './facts.ts';
import { removeItem } from './list-cache.ts';
import type { StatusFacts } from './pet-status.ts';
import { pets as resource } from './pets.ts';
import { showChanged } from './stock-of.ts';

/** What became of a bulk edit so far. */
export interface BulkProgress {
  total: number;
  done: number;
  failed: readonly { pet: Pet; message: string }[];
  isRunning: boolean;
  /** Why it ended early. */
  error?: string;
}

/** Stock and open orders of the pets, which decide what can be changed. Empty until they are read. */
export function useFacts(pets: readonly Pet[], isNeeded: boolean) {
  const session = useSession();
  const ids = pets.map(({ id }) => id);
  const { data, isFetching, error } = useQuery({
    // What changed meanwhile is checked again.
    queryKey: [resource.name, 'bulk-facts', pets.map(({ id, status }) => [id, status])],
    queryFn: ({ signal }) => readFacts(session, ids, signal),
    enabled: isNeeded && ids.length > 0,
    staleTime: 0,
    gcTime: 0,
  });
  return { facts: data ?? noFacts, isLoading: isFetching, error };
}

const noFacts: ReadonlyMap<number, StatusFacts> = new Map();

/** Changes many pets. `progress` is `undefined` before it starts. `stop` ends it after the batch that is sent. */
export function useBulk() {
  const session = useSession();
  const toasts = useToasts();
  const [progress, setProgress] = useState<BulkProgress>();
  const controller = useRef<AbortController>(undefined);

  async function run(
    pets: readonly Pet[],
    change: BulkChange,
    done: (count: number) => string,
  ): Promise<BulkProgress | undefined> {
    // The second click of a double click comes before the panel is drawn again.
    if (controller.current) return undefined;
    controller.current = new AbortController();
    const { signal } = controller.current;
    const written: Written[] = [];
    let state: BulkProgress = { total: pets.length, done: 0, failed: [], isRunning: true };
    setProgress(state);
    let facts = noFacts;
    try {
      // Undo returns the units of now. Those of the preview can have been sold.
      if (isSale(change))
        facts = await readFacts(
          session,
          pets.map(({ id }) => id),
          signal,
        );
      await askingToLeave(() =>
        runInBatches(session, pets, {
          add: (batch, pet) => [
            change.kind === 'delete' ? batch.pets.delete(pet.id) : batch.pets.update(pet.id, patchOf(change)),
          ],
          perItem: 1,
          signal,
          onResults: results => {
            written.push(...applied(session, results));
            const failed = results.flatMap(({ item, error }) =>
              error ? [{ pet: item, message: error }] : [],
            );
            state = {
              ...state,
              done: state.done + results.length,
              failed: [...state.failed, ...failed],
            };
            setProgress(state);
          },
        }),
      );
    } catch (error) {
      if (error !== signal.reason) state = { ...state, error: (error as Error).message };
    }
    setProgress({ ...state, isRunning: false });
    if (written.length === 0) return state;
    const undo = isSale(change)
      ? () => revertSale(session, written, facts)
      : () => revertAll(session, written, change as ReversibleChange);
    toasts.show({ text: done(written.length), undo: isReversible(change, session.can) ? undo : undefined });
    return state;
  }

  return { progress, run, stop: () => controller.current?.abort() };
}

/** Shows what was changed in the lists. */
function applied(session: Session, results: readonly ItemResult<Pet>[]): Written[] {
  const written: Written[] = [];
  notifyManager.batch(() => {
    for (const {
      item: before,
      results: [result],
      error,
    } of results) {
      if (error !== undefined || !result) continue;
      const after = result.body as Pet | undefined;
      if (after) putResult(session, resource, after, before);
      else removeItem(session.cache, resource, before.id);
      written.push({ before, after, etag: result.etag });
    }
  });
  showChanged(
    session,
    written.flatMap(({ after }) => after?.id ?? []),
  );
  return written;
}
