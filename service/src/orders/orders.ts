import { isDeepStrictEqual } from 'node:util';
import { lockStock } from '../catalog/pets/pet-queries.ts';
import { ApiError } from '../contract/errors.ts';
import type { Queries, Transaction, Writer } from '../db/database.ts';
import type { Listing } from '../db/select-page.ts';
import { appendEvent } from '../events/event-log/append.ts';
import * as inventory from '../inventory/inventory.ts';
import { mapPage, type Page } from '../kit/paging.ts';
import {
  alreadyComplete,
  type Order,
  type OrderTerms,
  orderOf,
  refuseChangeOfCompleted,
  settled,
  termsOf,
} from './order.ts';
import {
  deleteOrder,
  insertOrder,
  type OrderFilter,
  type OrderRow,
  type OrderSort,
  selectOrder,
  selectOrders,
  selectOrderToChange,
  updateOrder,
} from './order-queries.ts';

export async function list(
  db: Queries,
  filter: OrderFilter,
  listing: Listing<OrderSort>,
): Promise<Page<Order>> {
  return mapPage(await selectOrders(db, filter, listing), toOrder);
}

export async function read(db: Queries, orderId: number): Promise<Order> {
  return toOrder(found(await selectOrder(db, orderId), orderId));
}

/** Places an order: its units leave the stock with it. One placed as complete is sold over the counter. */
export function place(db: Writer, order: Order, now: number): Promise<Order> {
  return db.write(async tx => {
    const terms = settled(termsOf(order), now);
    await moveUnits(tx, noUnits, terms);
    const orderId = await insertOrder(tx, terms);
    if (terms.complete) await inventory.settle(tx, terms.petId!);
    const placed = orderOf(orderId, terms);
    appendEvent(tx, 'order.placed', orderId, placed);
    if (terms.complete) appendEvent(tx, 'order.completed', orderId, placed);
    return placed;
  });
}

/** Replaces an order by what `change` makes of it; units move between stock and order with it. */
export function update(
  db: Writer,
  orderId: number,
  change: (current: Order) => Order,
  now: number,
): Promise<Order> {
  return db.write(async tx => {
    const row = found(await selectOrderToChange(tx, orderId), orderId);
    const before = rowTerms(row);
    const wanted = termsOf(change(toOrder(row)));
    if (before.complete) refuseChangeOfCompleted(orderId, before, wanted);
    // The ship date of a completed order stays when none is given: a PUT that is sent again changes nothing.
    const after = settled(wanted, before.complete ? before.shipDate! : now);
    if (!before.complete) await moveUnits(tx, before, after);
    await updateOrder(tx, orderId, after);
    const completes = after.complete && !before.complete;
    if (completes) await inventory.settle(tx, after.petId!);
    const updated = orderOf(orderId, after);
    if (!isDeepStrictEqual(before, after)) {
      appendEvent(tx, completes ? 'order.completed' : 'order.updated', orderId, updated);
    }
    return updated;
  });
}

/** Cancels an open order and gives its units back. */
export function cancel(db: Writer, orderId: number, guard: (current: Order) => void): Promise<void> {
  return db.write(async tx => {
    const row = found(await selectOrderToChange(tx, orderId), orderId);
    const order = toOrder(row);
    guard(order);
    if (row.complete) throw alreadyComplete(orderId);
    await deleteOrder(tx, orderId);
    await moveUnits(tx, rowTerms(row), noUnits);
    appendEvent(tx, 'order.cancelled', orderId, order);
  });
}

interface HeldUnits {
  petId: number | null;
  quantity: number;
}

const noUnits: HeldUnits = { petId: null, quantity: 0 };

/** Moves units between stock and an open order that held `before` and is to hold `after`. */
async function moveUnits(tx: Transaction, before: HeldUnits, after: HeldUnits): Promise<void> {
  if (before.petId === after.petId) {
    if (after.petId !== null) await inventory.adjust(tx, after.petId, before.quantity, after.quantity);
    return;
  }
  if (before.petId !== null && after.petId !== null) await lockStock(tx, before.petId, after.petId);
  if (before.petId !== null) await inventory.giveBack(tx, before.petId, before.quantity);
  if (after.petId !== null) await inventory.take(tx, after.petId, after.quantity);
}

function found(row: OrderRow | undefined, orderId: number): OrderRow {
  if (!row) throw new ApiError('order_not_found', `There is no order ${orderId}`);
  return row;
}

function rowTerms({ pet_id, quantity, ship_date, complete }: OrderRow): OrderTerms {
  return { petId: pet_id, quantity, shipDate: ship_date, complete: complete === 1 };
}

function toOrder(row: OrderRow): Order {
  return orderOf(row.id, rowTerms(row));
}
