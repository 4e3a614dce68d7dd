import { lockStock } from '../catalog/pets/pet-queries.ts';
import { ApiError } from '../contract/errors.ts';
import type { Queries, Transaction, Writer } from '../db/database.ts';
import { selectPage } from '../db/select-page.ts';
import type { New } from '../db/table.ts';
import * as inventory from '../inventory/inventory.ts';
import { formatDateTime } from '../kit/dates.ts';
import type { Page } from '../kit/paging.ts';
import {
  isComplete,
  type Order,
  orderEvents,
  orderTable,
  rejectChangeOfCompleted,
  type StoredOrder,
  settled,
  withDefaults,
} from './order.ts';
import { type OrderQuery, orderList, selectOrderToChange } from './order-queries.ts';

export function list(db: Queries, query: OrderQuery): Promise<Page<StoredOrder>> {
  return selectPage(db, orderList, query);
}

export function read(db: Queries, orderId: number): Promise<StoredOrder> {
  return orderTable.read(db, orderId, orderNotFound);
}

/** Places an order and takes its units from the stock. An order can be placed as complete. */
export function place(db: Writer, order: Order, now: number): Promise<StoredOrder> {
  return db.write(async tx => {
    const wanted = settled(withDefaults(order), formatDateTime(now));
    const { petId } = wanted;
    const name = petId === undefined ? undefined : await inventory.take(tx, petId, wanted.quantity);
    const placed = await orderTable.insert(tx, wanted);
    if (isComplete(placed)) await inventory.settle(tx, placed.petId);
    const details = { name, related: petOf(placed) };
    orderEvents.append(tx, 'order.placed', placed.id, placed, details);
    if (placed.complete) orderEvents.append(tx, 'order.completed', placed.id, placed, details);
    return placed;
  });
}

/** Replaces an order with the result of `change`, and moves units between stock and order accordingly. */
export function update(
  db: Writer,
  orderId: number,
  change: (current: StoredOrder) => Order,
  now: number,
): Promise<StoredOrder> {
  return db.write(async tx => {
    const before = found(await selectOrderToChange(tx, orderId), orderId);
    const wanted = withDefaults(change(before));
    if (isComplete(before)) rejectChangeOfCompleted(before, wanted);
    // A completed order keeps its ship date if the body has none, so that a repeated PUT changes nothing.
    const after = settled(wanted, isComplete(before) ? before.shipDate : formatDateTime(now));
    const moved = before.complete ? undefined : await moveUnits(tx, before, after);
    const updated = await orderTable.update(tx, orderId, after);
    const completes = !before.complete && isComplete(updated);
    if (completes) await inventory.settle(tx, updated.petId);
    if (orderTable.differ(before, updated)) {
      const name = moved ?? (await inventory.nameOf(tx, before.petId));
      const details = { before, name, related: petOf(updated) ?? petOf(before) };
      orderEvents.append(tx, completes ? 'order.completed' : 'order.updated', orderId, updated, details);
    }
    return updated;
  });
}

/** Cancels an open order and returns its units to the stock. */
export function cancel(db: Writer, orderId: number, guard: (current: StoredOrder) => void): Promise<void> {
  return db.write(async tx => {
    const order = found(await selectOrderToChange(tx, orderId), orderId);
    guard(order);
    if (order.complete) {
      throw new ApiError(
        'order_already_complete',
        `Order ${orderId} is complete: only open orders can be deleted`,
      );
    }
    orderTable.sendDelete(tx, orderId);
    const { petId } = order;
    const name = petId === undefined ? undefined : await inventory.giveBack(tx, petId, order.quantity);
    orderEvents.append(tx, 'order.cancelled', orderId, order, { name, related: petOf(order) });
  });
}

type HeldUnits = Pick<New<StoredOrder>, 'petId' | 'quantity'>;

/** The subject of the pet of an order, whose history has the events of the order. */
function petOf({ petId }: Pick<Order, 'petId'>): string | undefined {
  return petId === undefined ? undefined : `pets/${petId}`;
}

/**
 * Moves units between the stock and an open order that changes from `before` to `after`. Resolves with the name of the pet of the
 * order; `undefined` for a draft.
 */
async function moveUnits(tx: Transaction, before: HeldUnits, after: HeldUnits): Promise<string | undefined> {
  if (before.petId === after.petId) {
    if (after.petId === undefined) return undefined;
    return inventory.adjust(tx, after.petId, before.quantity, after.quantity);
  }
  if (before.petId !== undefined && after.petId !== undefined) await lockStock(tx, before.petId, after.petId);
  const earlier =
    before.petId === undefined ? undefined : await inventory.giveBack(tx, before.petId, before.quantity);
  return after.petId === undefined ? earlier : inventory.take(tx, after.petId, after.quantity);
}

function found(order: StoredOrder | undefined, orderId: number): StoredOrder {
  if (!order) throw orderNotFound(orderId);
  return order;
}

function orderNotFound(orderId: number): ApiError {
  return new ApiError('order_not_found', `There is no order ${orderId}`);
}
