import { ApiError } from '../contract/errors.ts';
import { dateTime, id, MAX_INT32 } from '../contract/schema.ts';
import type { Static } from '../contract/static.ts';
import { formatDateTime, parseDateTime } from '../kit/dates.ts';

const fields = {
  id: { ...id, readOnly: true, description: 'Unique order identifier.' },
  petId: { ...id, description: 'ID of the animal in the order. An order without one is a draft.' },
  quantity: {
    type: 'integer',
    minimum: 1,
    maximum: MAX_INT32,
    description: 'Number of units ordered; 1 when left out.',
  },
  shipDate: { ...dateTime, description: 'Expected or actual ship date, ISO 8601; answered in UTC.' },
  complete: { type: 'boolean', description: 'Whether the order has been fulfilled; false when left out.' },
} as const;

export const Order = {
  title: 'Order',
  type: 'object',
  additionalProperties: false,
  properties: fields,
  example: { id: 1, petId: 1, quantity: 1, shipDate: '2026-12-01T09:00:00.000Z', complete: false },
} as const;

/** A null removes the value, and what stands for a missing one takes its place. */
export const OrderPatch = {
  title: 'OrderPatch',
  type: 'object',
  additionalProperties: false,
  properties: {
    id: fields.id,
    petId: { ...fields.petId, nullable: true },
    quantity: { ...fields.quantity, nullable: true },
    shipDate: { ...fields.shipDate, nullable: true },
    complete: { ...fields.complete, nullable: true },
  },
  example: { complete: true },
} as const;

export type Order = Static<typeof Order>;

/** An order as it is kept, every value settled. */
export interface OrderTerms {
  petId: number | null;
  quantity: number;
  /** Milliseconds since the Unix epoch. */
  shipDate: number | null;
  complete: boolean;
}

/** The terms that a body asks for. `shipDate` has passed the schema's date-time format. */
export function termsOf({ petId, quantity, shipDate, complete }: Order): OrderTerms {
  return {
    petId: petId ?? null,
    quantity: quantity ?? 1,
    shipDate: shipDate === undefined ? null : parseDateTime(shipDate)!,
    complete: complete ?? false,
  };
}

export function orderOf(id: number, { petId, quantity, shipDate, complete }: OrderTerms): Order {
  return {
    id,
    ...(petId !== null && { petId }),
    quantity,
    ...(shipDate !== null && { shipDate: formatDateTime(shipDate) }),
    complete,
  };
}

/** The terms with what completion asks for: a pet, and a ship date, which is `shippedAt` when none was given. */
export function settled(terms: OrderTerms, shippedAt: number): OrderTerms {
  if (!terms.complete) return terms;
  if (terms.petId === null) {
    throw new ApiError('order_has_no_pet', 'A draft order cannot be completed: give it a `petId` first');
  }
  return { ...terms, shipDate: terms.shipDate ?? shippedAt };
}

/** A completed order is history: only its ship date may still be corrected. */
export function refuseChangeOfCompleted(orderId: number, before: OrderTerms, after: OrderTerms): void {
  const same =
    after.petId === before.petId && after.quantity === before.quantity && after.complete === before.complete;
  if (!same) throw alreadyComplete(orderId);
}

export function alreadyComplete(orderId: number): ApiError {
  return new ApiError(
    'order_already_complete',
    `Order ${orderId} is complete: only its \`shipDate\` can still be changed`,
  );
}
