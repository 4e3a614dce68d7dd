import type { Queries, Transaction } from '../db/database.ts';
import { type Condition, type Listing, type Sorts, selectPage } from '../db/select-page.ts';
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

export async function insertOrder(db: Queries, terms: OrderTerms): Promise<number> {
  const row = await db.get<{ id: number }>(
    'INSERT INTO orders (pet_id, quantity, ship_date, complete) VALUES (?, ?, ?, ?) RETURNING id',
    columnsOf(terms),
  );
  return row!.id;
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

const sorts = {
  id: { columns: ['id'], keyOf: ({ id }: OrderRow) => [id], types: ['number'] },
} as const satisfies Sorts<OrderRow>;

export type OrderSort = keyof typeof sorts;

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
  const where: Condition[] = [];
  if (petId !== undefined) where.push(['pet_id = ?', petId]);
  if (complete !== undefined) where.push(['complete = ?', complete ? 1 : 0]);
  if (shipDateFrom !== undefined) where.push(['ship_date >= ?', shipDateFrom]);
  if (shipDateTo !== undefined) where.push(['ship_date < ?', shipDateTo]);
  return selectPage(db, `SELECT ${COLUMNS} FROM orders`, where, sorts, listing);
}
