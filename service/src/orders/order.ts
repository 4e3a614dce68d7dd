import { ApiError } from '../contract/errors.ts';
import { patchOf } from '../contract/patch.ts';
import { dateTime, id, int32, MAX_INT32 } from '../contract/schema.ts';
import { shape } from '../contract/shape.ts';
import type { Static, StaticStored } from '../contract/static.ts';
import { assignedId, boolean, instant, integer, optional } from '../db/columns.ts';
import { type New, Table } from '../db/table.ts';
import { EventKind } from '../events/event-log/event-kind.ts';
import { keysOf } from '../kit/objects.ts';

const fields = {
  id: { ...id, readOnly: true, description: 'Unique order identifier.' },
  petId: { ...id, description: 'ID of the animal in the order. An order without one is a draft.' },
  quantity: {
    ...int32,
    minimum: 1,
    maximum: MAX_INT32,
    description: 'Number of units ordered; 1 when left out.',
  },
  shipDate: { ...dateTime, description: 'Expected or actual ship date, ISO 8601; returned in UTC.' },
  complete: { type: 'boolean', description: 'Whether the order has been fulfilled; false when left out.' },
} as const;

export const Order = {
  ...shape({
    title: 'Order',
    properties: fields,
    optional: keysOf(fields),
    example: { id: 1, petId: 1, quantity: 1, shipDate: '2026-12-01T09:00:00.000Z', complete: false },
  }),
  alwaysPresent: ['id', 'quantity', 'complete'],
} as const;

/** A null removes the value: the field gets its default. */
export const OrderPatch = patchOf(Order, ['petId', 'quantity', 'shipDate', 'complete'], { complete: true });

/** An order as a client sends it. */
export type Order = Static<typeof Order>;

/** An order as it is stored, with all defaults. */
export type StoredOrder = StaticStored<typeof Order>;

/** A completed order has a pet and a ship date; a constraint of the database enforces it. */
type Completed = Required<Pick<Order, 'petId' | 'shipDate'>>;

export const orderTable = new Table<StoredOrder>(
  'orders',
  {
    id: assignedId,
    petId: optional(integer('pet_id')),
    quantity: integer('quantity'),
    shipDate: optional(instant('ship_date')),
    complete: boolean('complete'),
  },
  { canWait: true, after: 'pets' },
);

export const orderEvents = new EventKind({
  title: 'OrderEvent',
  types: ['order.placed', 'order.updated', 'order.completed', 'order.cancelled'],
  data: Order,
});

/** Returns the order that a body describes, with all defaults. */
export function withDefaults(order: Order): New<StoredOrder> {
  return { ...order, quantity: order.quantity ?? 1, complete: order.complete ?? false };
}

export function isComplete<O extends New<StoredOrder>>(order: O): order is O & Completed {
  return order.complete;
}

/**
 * Returns a completed order with its ship date, `shippedAt` if it has none. Throws `order_has_no_pet` for a completed order
 * without a pet.
 */
export function settled(order: New<StoredOrder>, shippedAt: string): New<StoredOrder> {
  if (!order.complete) return order;
  if (order.petId === undefined) {
    throw new ApiError('order_has_no_pet', 'A draft order cannot be completed: set its `petId` first');
  }
  return { ...order, shipDate: order.shipDate ?? shippedAt };
}

/** Only the ship date of a completed order can change. */
export function rejectChangeOfCompleted(before: StoredOrder & Completed, after: New<StoredOrder>): void {
  if (orderTable.differ(before, { ...after, shipDate: before.shipDate })) throw alreadyComplete(before.id);
}

function alreadyComplete(orderId: number): ApiError {
  return new ApiError(
    'order_already_complete',
    `Order ${orderId} is complete: only its \`shipDate\` can change`,
  );
}
