import { type CallOptions, NotFoundError, type Order, PreconditionError } from '@petstore/client';
import { useCallback } from 'react';
import { eventScopes, type Scope, type Session, useSession } from '../app/session.ts';
import { askingToLeave } from '../kit/asking-to-leave.ts';
import { useToasts } from '../kit/toasts.ts';
import { addItem, putBack, putItem, removeItem } from './list-cache.ts';
import { isSame } from './merge.ts';
import { orders } from './orders.ts';
import { pets } from './pets.ts';
import type { Resource, Version } from './resource.ts';
import { showChanged, showOrdered } from './stock-of.ts';

/**
 * Shows an item as the service has returned it, instead of what was shown meanwhile. What has arrived since stays if the key reads its
 * events: it is newer, or the event of this version follows.
 */
export function putResult<T extends object>(
  { cache, can }: Pick<Session, 'cache' | 'can'>,
  resource: Resource<T>,
  item: T,
  shown: T,
): void {
  if (can('events:read') && can(scopeOfEvents(resource))) putBack(cache, resource, item, shown);
  else putItem(cache, resource, item);
}

/** The scope of a resource's events. Those of webhooks are for administrators, also if another key changes its own. */
function scopeOfEvents({ name }: { name: string }): Scope {
  return (eventScopes as Partial<Record<string, Scope>>)[name] ?? 'events:read';
}

/** The actions on items of a resource. Each changes the lists at once, and offers to undo it if that is possible. */
export function useActions<T extends object>(resource: Resource<T>) {
  const session = useSession();
  const toasts = useToasts();
  const { store, cache } = session;

  /**
   * Changes fields of an item. The lists show the new values before the service has confirmed them, and the old ones again if
   * it rejects the change. Rejects with `PreconditionError` if the item no longer has the ETag.
   */
  const change = useCallback(
    async (item: T, patch: Partial<T>, { done, etag, undo }: ChangeOptions): Promise<Version<T>> => {
      const id = resource.idOf(item);
      const shown = { ...item, ...patch };
      putItem(cache, resource, shown);
      try {
        const after = await askingToLeave(() => updateOnce(session, resource, id, patch, etag));
        putResult(session, resource, after.data, shown);
        toasts.withdrawUndo(resource.name, id, after.data);
        showEffects(session, resource, [item, after.data]);
        showStockOf(session, resource, id);
        const back = undo ?? (() => revert(session, resource, item, patch, after));
        toasts.show({ text: done, undo: back || undefined });
        return after;
      } catch (error) {
        putBack(cache, resource, item, shown);
        throw error;
      }
    },
    [session, cache, toasts, resource],
  );

  const create = useCallback(
    async (item: Partial<T>, done: (created: T) => string): Promise<T> => {
      const { data: created, etag } = await resource.create(store, item).withResponse();
      addItem(cache, resource, created);
      showEffects(session, resource, [created]);
      toasts.show({
        text: done(created),
        undo: () => removeCreated(session, resource, created, etag),
        created: { name: resource.name, id: resource.idOf(created), isSame: item => isSame(item, created) },
      });
      return created;
    },
    [session, store, cache, toasts, resource],
  );

  /** Deletes an item, which cannot be undone: ask before. */
  const remove = useCallback(
    async (item: T, done: string): Promise<void> => {
      await removeOnce(session, resource, resource.idOf(item));
      toasts.withdrawUndo(resource.name, resource.idOf(item), undefined);
      showEffects(session, resource, [item]);
      toasts.show({ text: done });
    },
    [session, toasts, resource],
  );

  return { change, create, remove };
}

/** Shows what only events would report otherwise: the menu of categories, which has no list of pages, and the animals of orders. */
function showEffects<T extends object>(session: Session, { name }: Resource<T>, items: readonly T[]): void {
  void session.cache.invalidateQueries({ queryKey: [name, 'all'] });
  if (name === orders.name) showOrdered(session, items as readonly Order[]);
}

/** Shows the stock of a changed item if it is an animal: a sale empties it. */
function showStockOf<T extends object>(session: Session, { name }: Resource<T>, id: number): void {
  if (name === pets.name) showChanged(session, [id]);
}

export interface ChangeOptions {
  /** What the user did, for the message that offers to undo it. */
  done: string;
  /** The version that the change is based on. */
  etag?: string | undefined;
  /** How to undo it, if that is not writing the old values; `false` if it cannot be undone: ask before. */
  undo?: (() => Promise<unknown>) | false;
}

/** Deletes an item that this user created, unless it was changed since. The key may not be able to read it. */
async function removeCreated<T extends object>(
  session: Session,
  resource: Resource<T>,
  created: T,
  etag: string | undefined,
): Promise<void> {
  await removeOnce(session, resource, resource.idOf(created), { ifMatch: etag }).catch(error => {
    if (!(error instanceof PreconditionError)) throw error;
    throw new Error('Not undone: it has changed since then');
  });
  showEffects(session, resource, [created]);
}

/** Writes the old values of changed fields, unless another client has changed one of them since. */
async function revert<T extends object>(
  session: Session,
  resource: Resource<T>,
  before: T,
  patch: Partial<T>,
  after: Version<T>,
): Promise<void> {
  const { store, cache } = session;
  const fields = Object.keys(patch) as (keyof T)[];
  // A field that the item did not have is removed again.
  const old = Object.fromEntries(fields.map(field => [field, before[field] ?? null])) as Partial<T>;
  const id = resource.idOf(before);
  for (let version = after; ; version = await resource.read(store, id)) {
    if (fields.some(field => !isSame(version.data[field], after.data[field])))
      throw new Error('Not undone: it has changed again since then');
    try {
      const { data } = await updateOnce(session, resource, id, old, version.etag);
      putItem(cache, resource, (await resource.restore?.(store, before, after.data, data)) ?? data);
      showEffects(session, resource, [after.data, data]);
      showStockOf(session, resource, id);
      return;
    } catch (error) {
      if (!(error instanceof PreconditionError)) throw error;
    }
  }
}

/**
 * Changes fields of an item. If it no longer has the ETag, but the new values, the response to an earlier try was lost. Rejects with
 * `PreconditionError` if it has neither.
 */
export async function updateOnce<T extends object>(
  { store }: Session,
  resource: Resource<T>,
  id: number,
  patch: Partial<T>,
  etag: string | undefined,
): Promise<Version<T>> {
  try {
    return await resource.update(store, id, patch, { ifMatch: etag }).withResponse();
  } catch (error) {
    if (!(error instanceof PreconditionError)) throw error;
    const version = await resource.read(store, id);
    const sent: Partial<T> = resource.patchOf?.(patch) ?? patch;
    const fields = Object.keys(sent) as (keyof T)[];
    if (fields.some(field => !isSame(version.data[field] ?? null, sent[field] ?? null))) throw error;
    return version;
  }
}

/** Deletes an item. If the service does not know it any more, it is deleted: the response to an earlier try may have been lost. */
export async function removeOnce<T extends object>(
  { store, cache }: Session,
  resource: Resource<T>,
  id: number,
  options?: CallOptions,
): Promise<void> {
  try {
    await resource.remove(store, id, options);
  } catch (error) {
    // A 404 without a code is that of another server.
    if (!(error instanceof NotFoundError && error.code)) throw error;
  }
  removeItem(cache, resource, id);
}
