import type { Pet, PetStore } from '@petstore/client';
import { notifyManager, useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { type Session, useSession } from '../app/session.ts';
import { showToast } from '../kit/toasts.ts';
import { askingToLeave, type ItemResult, runInBatches } from './batches.ts';
import { type BulkChange, isReversible, patchOf } from './bulk.ts';
import { putItem, removeItem } from './list-cache.ts';
import type { StatusFacts } from './pet-status.ts';
import { pets as resource } from './pets.ts';

/** The most IDs of a filter, and the most items of a page. */
const MOST_IDS = 100;

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

async function readFacts(
  { store, can }: Session,
  ids: readonly number[],
  signal: AbortSignal,
): Promise<Map<number, StatusFacts>> {
  const stock = new Map<number, number>();
  const ordered = new Set<number>();
  for (let at = 0; at < ids.length; at += MOST_IDS) {
    const petId = ids.slice(at, at + MOST_IDS);
    await Promise.all([can('inventory:read') && readStock(petId), can('orders:read') && readOrders(petId)]);
  }
  async function readStock(petId: readonly number[]): Promise<void> {
    for await (const item of store.inventory.list({ petId, limit: MOST_IDS }, { signal }))
      stock.set(item.petId, item.quantity);
  }
  async function readOrders(petId: readonly number[]): Promise<void> {
    for await (const order of store.orders.list({ petId, complete: false, limit: MOST_IDS }, { signal }))
      if (order.petId !== undefined) ordered.add(order.petId);
  }
  return new Map(
    ids.map(id => [
      id,
      { stock: stock.get(id), hasOpenOrders: can('orders:read') ? ordered.has(id) : undefined },
    ]),
  );
}

/** Changes many pets. `progress` is `undefined` before it starts. `stop` ends it after the batch that is sent. */
export function useBulk() {
  const session = useSession();
  const [progress, setProgress] = useState<BulkProgress>();
  const controller = useRef<AbortController>(undefined);

  async function run(
    pets: readonly Pet[],
    change: BulkChange,
    done: (count: number) => string,
  ): Promise<void> {
    // The second click of a double click comes before the panel is drawn again.
    if (controller.current) return;
    controller.current = new AbortController();
    const { signal } = controller.current;
    const written: Written[] = [];
    let state: BulkProgress = { total: pets.length, done: 0, failed: [], isRunning: true };
    setProgress(state);
    try {
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
      state = { ...state, error: (error as Error).message };
    }
    setProgress({ ...state, isRunning: false });
    if (written.length === 0) return;
    const undo = isReversible(change) ? () => revertAll(session, written, change) : undefined;
    showToast({ text: done(written.length), undo });
  }

  return { progress, run, stop: () => controller.current?.abort() };
}

/** A pet before and after a change. */
interface Written {
  before: Pet;
  after: Pet | undefined;
  etag: string | undefined;
}

/** Shows what was changed in the lists. */
function applied({ cache }: Session, results: readonly ItemResult<Pet>[]): Written[] {
  const written: Written[] = [];
  notifyManager.batch(() => {
    for (const {
      item: before,
      results: [result],
      error,
    } of results) {
      if (error !== undefined || !result) continue;
      const after = result.body as Pet | undefined;
      if (after) putItem(cache, resource, after);
      else removeItem(cache, resource, before.id);
      written.push({ before, after, etag: result.etag });
    }
  });
  return written;
}

/** Writes the old values of the pets that no other client has changed since. */
async function revertAll(
  session: Session,
  written: readonly Written[],
  change: Exclude<BulkChange, { kind: 'delete' }>,
): Promise<void> {
  let failed = 0;
  await runInBatches(session, written, {
    add: (batch, { before, etag }) => [
      batch.pets.update(before.id, oldValues(before, change), etag === undefined ? {} : { ifMatch: etag }),
    ],
    perItem: 1,
    onResults: results => {
      failed += results.filter(({ error }) => error !== undefined).length;
      notifyManager.batch(() => {
        for (const {
          results: [result],
          error,
        } of results)
          if (error === undefined && result?.body) putItem(session.cache, resource, result.body as Pet);
      });
    },
  });
  if (failed > 0)
    throw new Error(
      `${failed} of ${written.length} animals were not changed back, because they were changed again since or a rule does not allow it`,
    );
}

function oldValues(before: Pet, { kind }: BulkChange): Parameters<PetStore['pets']['update']>[1] {
  return kind === 'status' ? { status: before.status ?? 'available' } : { categoryId: before.categoryId };
}
