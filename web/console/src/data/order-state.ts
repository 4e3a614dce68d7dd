import type { Order } from '@petstore/client';
import { type Day, startOf } from './days.ts';

/** A draft is an order without a pet: it takes no units. */
export type OrderState = 'draft' | 'open' | 'complete';

export function stateOf({ complete, petId }: Pick<Order, 'complete' | 'petId'>): OrderState {
  if (complete) return 'complete';
  return petId === undefined ? 'draft' : 'open';
}

/** Whether an order should have been shipped on a day before this one. */
export function isOverdue(order: Order, today: Day): boolean {
  return stateOf(order) === 'open' && order.shipDate !== undefined && order.shipDate < startOf(today);
}

/** Returns why an order cannot be completed; `undefined` if it can. The service decides in the end. */
export function reasonAgainstCompletion(state: OrderState): string | undefined {
  if (state === 'draft') return 'It is a draft: choose an animal first';
  if (state === 'complete') return 'It is completed already';
  return undefined;
}

/** Returns why an order cannot be cancelled; `undefined` if it can. */
export function reasonAgainstCancellation(state: OrderState): string | undefined {
  return state === 'complete' ? 'It is completed, and its animal has left the shop' : undefined;
}
