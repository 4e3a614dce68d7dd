import type { Queries, Transaction } from '../db/database.ts';
import { insertInto } from '../db/insert.ts';
import type { List, SortOf } from '../db/list.ts';
import { type Listing, selectPage } from '../db/select-page.ts';
import type { Page } from '../kit/paging.ts';
import type { OrderTerms } from './order.ts';

export interface OrderRow {
  id: number;
  pet_id: number | null;
  quantity: number;
  ship_date: number | null;
  complete: 0 | 1;
}

const COLUMNS = 'id, pet_id, quantity, ship_date, complete';

export function selectOrder(db: Queries, orderId: number): Promise<OrderRow | undefined> {
  return db.get(`SELECT ${COLUMNS} FROM orders WHERE id = ?`, [orderId]);
}

/** Reads an order that may be changed, and keeps it from other transactions until this one ends. */
export async function selectOrderToChange(tx: Transaction, orderId: number): Promise<OrderRow | undefined> {
  const [, row] = await Promise.all([tx.lock(`order ${orderId}`), selectOrder(tx, orderId)]);
  return row;
}

const INSERT = insertInto('orders', ['pet_id', 'quantity', 'ship_date', 'complete']);

export async function insertOrder(tx: Transaction, terms: OrderTerms): Promise<number> {
  return (await tx.insert(INSERT, columnsOf(terms)))!;
}

export function updateOrder(db: Queries, orderId: number, terms: OrderTerms): Promise<number> {
  return db.run('UPDATE orders SET pet_id = ?, quantity = ?, ship_date = ?, complete = ? WHERE id = ?', [
    ...columnsOf(terms),
    orderId,
  ]);
}

export function deleteOrder(db: Queries, orderId: number): Promise<number> {
  return db.run('DELETE FROM orders WHERE id = ?', [orderId]);
}

function columnsOf({ petId, quantity, shipDate, complete }: OrderTerms): (number | null)[] {
  return [petId, quantity, shipDate, complete ? 1 : 0];
}

export const orderList = {
  table: 'orders',
  columns: COLUMNS,
  equal: { pet_id: null, complete: [0, 1] },
  sorts: { id: { id: 'number' }, shipDate: { ship_date: 'number', id: 'number' } },
  defaultSort: 'id',
  range: { filters: ['shipDateFrom', 'shipDateTo'], sort: 'shipDate', nullable: true },
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
} as const satisfies List<OrderRow>;

export type OrderSort = SortOf<typeof orderList>;

export interface OrderFilter {
  petId?: number | undefined;
  complete?: boolean | undefined;
  /** From this instant on, in milliseconds since the Unix epoch. */
  shipDateFrom?: number | undefined;
  /** Before this instant. */
  shipDateTo?: number | undefined;
}

export function selectOrders(
  db: Queries,
  { petId, complete, shipDateFrom, shipDateTo }: OrderFilter,
  listing: Listing<OrderSort>,
): Promise<Page<OrderRow>> {
  const equal = { pet_id: petId, complete: complete === undefined ? undefined : Number(complete) };
  return selectPage<OrderRow>(db, orderList, { equal, from: shipDateFrom, to: shipDateTo }, listing);
}
