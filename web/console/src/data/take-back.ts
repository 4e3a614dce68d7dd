import { type Batch, type HistoryEntry, type Order, PreconditionError } from '@petstore/client';
import type { Session } from '../app/session.ts';
import { type Activity, changesMoreThanStock } from './activity.ts';
import { keyed, reasonOf } from './batches.ts';
import { categories } from './categories.ts';
import { removeOnce, updateOnce } from './changes.ts';
import { fieldInWords, valueInWords } from './field-words.ts';
import { idOf } from './id-of.ts';
import { putItem } from './list-cache.ts';
import { isSame } from './merge.ts';
import {
  adjustOnce,
  contentOf,
  keyToPlaceAgain,
  noteOfReturn,
  notesSince,
  placedEarlier,
  placedSince,
  TAKEN_BACK,
  unitsBack,
} from './open-again.ts';
import { orders } from './orders.ts';
import { pets } from './pets.ts';
import type { Resource } from './resource.ts';

/** Takes a change back as a new change. Resolves with what was done, and rejects with what newer prevents it. */
export type TakeBack = (session: Session) => Promise<string>;

/** The resources whose changed fields can be written again, by the prefix of their subjects. */
// biome-ignore lint/suspicious/noExplicitAny: the prefix decides the type of the resource
const resources: Record<string, Resource<any>> = {
  pets,
  categories,
  'store/orders': orders,
};

/** Returns what takes a change back; `undefined` if that is not possible, or the key may not do it. */
export function takeBackOf(activity: Activity, can: Session['can']): TakeBack | undefined {
  const of = (type: string) => activity.find(entry => entry.type === type);
  const placed = of('order.placed');
  const completed = of('order.completed');
  const cancelled = of('order.cancelled');
  const stock = of('inventory.updated');
  if (completed && !placed)
    return can('orders:write') && can('inventory:write') ? session => reopen(session, completed) : undefined;
  if (placed && !completed) return can('orders:write') ? session => cancel(session, placed) : undefined;
  if (cancelled) return can('orders:write') ? session => placeAgain(session, cancelled) : undefined;
  const order = of('order.updated');
  if (order) return can('orders:write') ? session => writeBack(session, order) : undefined;
  if (stock?.changes.some(({ field }) => field === 'quantity')) {
    // No single request takes both back.
    if (changesMoreThanStock(activity)) return undefined;
    return can('inventory:write') ? session => adjustBack(session, stock, placed) : undefined;
  }
  const entry = of('pet.updated') ?? of('category.updated');
  return entry && can('pets:write') ? session => writeBack(session, entry) : undefined;
}

/**
 * Adds or removes the units of a change of stock. With `placed`, the change is the sale of this order. Changes since then count as well. The
 * note keeps it from being done twice.
 */
async function adjustBack(
  session: Session,
  entry: HistoryEntry,
  placed: HistoryEntry | undefined,
): Promise<string> {
  const units = entry.changes.find(({ field }) => field === 'quantity');
  const note = placed ? noteOfReturn(idOf(placed)) : `Takes back change ${entry.eventId}`;
  const delta = Number(units?.from) - Number(units?.to);
  const opposite = { delta, reason: placed ? 'returned' : 'corrected', note } as const;
  const petId = idOf(entry);
  const after = await adjustOnce(session, petId, opposite, () => hasNote(session.store, entry, petId, note));
  return `${entry.name ?? 'The stock'}: ${after.quantity.toLocaleString()} in stock again`;
}

/** Resolves with whether the stock of a pet has a change with this note since an entry. */
async function hasNote(
  store: Session['store'],
  entry: HistoryEntry,
  petId: number,
  note: string,
): Promise<boolean> {
  return (await notesSince(store, entry, `store/inventory/${petId}`)).has(note);
}

/** A completed order never opens again: its units come back, and the same is ordered again. */
async function reopen(session: Session, entry: HistoryEntry): Promise<string> {
  const { store } = session;
  const order = await store.orders.get(idOf(entry));
  if (order.petId === undefined) throw new Error('It has no animal');
  if (await hasNote(store, entry, order.petId, noteOfReturn(order.id))) throw new Error(TAKEN_BACK);
  const batch = store.batch();
  unitsBack(batch, order);
  return `Open again as order ${await createAgain(session, batch, order)}`;
}

/** Runs a batch that also places an order again, which undo does with the same request. Returns the ID of the new order. */
async function createAgain(session: Session, batch: Batch, order: Order): Promise<Order['id']> {
  const placed = batch.orders.create(contentOf(order));
  const outcome = await batch.run(keyed(keyToPlaceAgain(order.id))).catch(error => {
    throw new Error(reasonOf(error));
  });
  const again = outcome.get(placed);
  return (outcome.isReplayed ? await placedEarlier(session, again) : again).id;
}

async function cancel(session: Session, entry: HistoryEntry): Promise<string> {
  const { data, etag } = await session.store.orders.get(idOf(entry)).withResponse();
  if (data.complete) throw new Error(`Order ${data.id} was completed since then`);
  await removeOnce(session, orders, idOf(entry), { ifMatch: etag });
  return `Cancelled order ${data.id}`;
}

async function placeAgain(session: Session, entry: HistoryEntry): Promise<string> {
  const of = (name: string) => entry.changes.find(({ field }) => field === name)?.from;
  const content = { petId: of('petId'), quantity: of('quantity'), shipDate: of('shipDate') };
  const given = Object.entries(content).filter(([, value]) => value != null);
  const order = { ...Object.fromEntries(given), id: idOf(entry) } as Order;
  const placed = await placedSince(session, entry, order.petId);
  const earlier = placed.get(keyToPlaceAgain(order.id));
  if (earlier) return `Open again as order ${(await placedEarlier(session, earlier)).id}`;
  return `Open again as order ${await createAgain(session, session.store.batch(), order)}`;
}

/** Writes the old values of the changed fields. Other fields keep what they have now. */
async function writeBack(session: Session, entry: HistoryEntry): Promise<string> {
  const resource = resources[entry.subject.replace(/\/\d+$/, '')]!;
  const old = Object.fromEntries(entry.changes.map(({ field, from }) => [field, from ?? null]));
  for (;;) {
    const { data, etag } = await resource.read(session.store, idOf(entry));
    const newer = entry.changes.filter(({ field, to }) => !isSame(data[field] ?? null, to ?? null));
    if (newer.length > 0)
      throw new Error(
        `Not taken back: ${newer.map(({ field }) => `${fieldInWords(field)} is now ${valueInWords(field, data[field])}`).join(', ')}`,
      );
    try {
      const version = await updateOnce(session, resource, idOf(entry), old, etag);
      putItem(session.cache, resource, version.data);
      const fields = entry.changes.map(({ field }) => fieldInWords(field));
      return `Took back a change of ${entry.name ?? `order ${idOf(entry)}`}: ${fields.join(', ')}`;
    } catch (error) {
      if (!(error instanceof PreconditionError)) throw error;
    }
  }
}
