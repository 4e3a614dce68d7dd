import { dateTime, idsToFind } from '../contract/schema.ts';
import type { Transaction } from '../db/database.ts';
import { defineList } from '../db/define-list.ts';
import { anyOf, below, from, is, type QueryOf } from '../db/list.ts';
import { orderTable, type StoredOrder } from './order.ts';

/** The lock of an order. */
export function lockOfOrder(orderId: number): string {
  return `order ${orderId}`;
}

/** Reads an order and locks it until the transaction ends. */
export async function selectOrderToChange(
  tx: Transaction,
  orderId: number,
): Promise<StoredOrder | undefined> {
  const [, order] = await Promise.all([tx.lock(lockOfOrder(orderId)), orderTable.find(tx, orderId)]);
  return order;
}

export const orderList = defineList(orderTable, {
  filters: {
    petId: anyOf('petId', {
      ...idsToFind,
      description: 'Orders for these pets. Repeat the parameter for each pet, or separate them by commas.',
    }),
    complete: is('complete', {
      type: 'boolean',
      description: 'Orders that are fulfilled (`true`) or open (`false`).',
    }),
    shipDateFrom: from('shipDate', {
      ...dateTime,
      description: 'Orders that ship at this time or later.',
    }),
    shipDateTo: below('shipDate', { ...dateTime, description: 'Orders that ship before this time.' }),
  },
  sorts: { id: ['id'], shipDate: ['shipDate', 'id'] },
  defaultSort: 'id',
});

export type OrderQuery = QueryOf<typeof orderList>;
