import type { InventoryItem } from '../catalog/pets/inventory-item.ts';
import { appendPetChange, appendStockChange } from '../catalog/pets/pet-events.ts';
import { type PetWithStock, selectPetToChange, stockTable } from '../catalog/pets/pet-queries.ts';
import { petNotFound } from '../catalog/pets/pets.ts';
import {
  adjustQuantity,
  adjustUnits,
  returnUnits,
  type Stock,
  setQuantity,
  settleCompleted,
  takeUnits,
} from '../catalog/pets/stock.ts';
import { ApiError } from '../contract/errors.ts';
import type { Queries, Transaction, Writer } from '../db/database.ts';
import { selectPage } from '../db/select-page.ts';
import type { Page } from '../kit/paging.ts';
import { type StockQuery, stockList } from './inventory-queries.ts';

export function list(db: Queries, query: StockQuery): Promise<Page<InventoryItem>> {
  return selectPage(db, stockList, query);
}

export async function read(db: Queries, petId: number): Promise<InventoryItem> {
  const item = await stockTable.find(db, petId);
  if (!item) throw petNotFound(petId);
  return item;
}

/** Sets the stock of a pet to the result of `change`. */
export function set(
  db: Writer,
  petId: number,
  change: (current: InventoryItem) => { quantity: number },
): Promise<InventoryItem> {
  return changeStock(db, petId, (stock, hasOpenOrders) =>
    setQuantity(stock, change(stock).quantity, hasOpenOrders),
  );
}

/**
 * Changes the stock of a pet by `delta` units; when `guard` throws, nothing changes. Throws `insufficient_stock` and
 * `stock_limit_exceeded`.
 */
export function adjustBy(
  db: Writer,
  petId: number,
  delta: number,
  guard: (current: InventoryItem) => void,
): Promise<InventoryItem> {
  return changeStock(db, petId, (stock, hasOpenOrders) => {
    guard(stock);
    return adjustQuantity(stock, delta, hasOpenOrders);
  });
}

type StockRule = (stock: Stock, hasOpenOrders: boolean) => Stock;

function changeStock(db: Writer, petId: number, rule: StockRule): Promise<InventoryItem> {
  return db.write(async tx => {
    const before = await selectPetToChange(tx, petId);
    if (!before) throw petNotFound(petId);
    const item = rule(before.stock, before.hasOpenOrders);
    store(tx, before, item);
    return item;
  });
}

/** Takes units of a pet for an order, in the transaction of the order. */
export function take(tx: Transaction, petId: number, units: number): Promise<void> {
  return change(tx, petId, stock => takeUnits(stock, units));
}

/** Returns units that an order held, in the transaction of the order. */
export function giveBack(tx: Transaction, petId: number, units: number): Promise<void> {
  return change(tx, petId, stock => returnUnits(stock, units));
}

/** Changes the units that an order holds from `before` to `after`, in the transaction of the order. */
export function adjust(tx: Transaction, petId: number, before: number, after: number): Promise<void> {
  return change(tx, petId, stock => adjustUnits(stock, before, after));
}

/** Marks the pet sold when the order just completed was its last open one and no stock is left. */
export function settle(tx: Transaction, petId: number): Promise<void> {
  return change(tx, petId, settleCompleted);
}

async function change(tx: Transaction, petId: number, rule: StockRule): Promise<void> {
  const before = await selectPetToChange(tx, petId);
  if (!before) throw new ApiError('unknown_pet', `Field \`petId\` names pet ${petId}, which does not exist`);
  const after = rule(before.stock, before.hasOpenOrders);
  if (after !== before.stock) store(tx, before, after);
}

/** Stores the stock and the status of a pet. */
function store(tx: Transaction, { pet, stock: before }: PetWithStock, after: Stock): void {
  stockTable.sendUpdate(tx, pet.id, after);
  appendStockChange(tx, before, after);
  appendPetChange(tx, pet, { ...pet, status: after.status });
}
