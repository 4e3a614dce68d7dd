import type { Transaction } from '../db/database.ts';
import { anyOf, below, defineList, from, is, type QueryOf } from '../db/list.ts';
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
    petId: anyOf('petId'),
    complete: is('complete', [false, true]),
    shipDateFrom: from('shipDate'),
    shipDateTo: below('shipDate'),
  },
  sorts: { id: ['id'], shipDate: ['shipDate', 'id'] },
  defaultSort: 'id',
  indexes: [
    { columns: ['id'] },
    { name: 'orders_by_complete', order: 1, columns: ['complete', 'id'] },
    { name: 'orders_by_complete_and_ship_date', order: 2, columns: ['complete', 'ship_date', 'id'] },
    { name: 'orders_by_pet', order: 3, columns: ['pet_id', 'complete', 'id'] },
    {
      name: 'orders_by_pet_and_ship_date',
      order: 4,
      key: 'ship_date - 0',
      columns: ['pet_id', 'complete', 'ship_date', 'id'],
    },
  ],
});

export type OrderQuery = QueryOf<typeof orderList>;
