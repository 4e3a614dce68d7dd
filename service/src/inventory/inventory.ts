import type { InventoryItem } from '../catalog/pets/inventory-item.ts';
import { petTable } from '../catalog/pets/pet.ts';
import { appendPetChange, appendStockChange, type StockReason } from '../catalog/pets/pet-events.ts';
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
import type { StockAdjustment } from './inventory-item.ts';
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
  { delta, reason, note }: StockAdjustment,
  guard: (current: InventoryItem) => void,
): Promise<InventoryItem> {
  const rule: StockRule = (stock, hasOpenOrders) => {
    guard(stock);
    return adjustQuantity(stock, delta, hasOpenOrders);
  };
  return changeStock(db, petId, rule, { reason, note });
}

type StockRule = (stock: Stock, hasOpenOrders: boolean) => Stock;

function changeStock(
  db: Writer,
  petId: number,
  rule: StockRule,
  reason?: StockReason,
): Promise<InventoryItem> {
  return db.write(async tx => {
    const before = await selectPetToChange(tx, petId);
    if (!before) throw petNotFound(petId);
    const item = rule(before.stock, before.hasOpenOrders);
    store(tx, before, item, reason);
    return item;
  });
}

/** Takes units of a pet for an order, in the transaction of the order. Resolves with the name of the pet, as the next ones do. */
export function take(tx: Transaction, petId: number, units: number): Promise<string> {
  return change(tx, petId, stock => takeUnits(stock, units));
}

/** Returns units that an order held, in the transaction of the order. */
export function giveBack(tx: Transaction, petId: number, units: number): Promise<string> {
  return change(tx, petId, stock => returnUnits(stock, units));
}

/** Changes the units that an order holds from `before` to `after`, in the transaction of the order. */
export function adjust(tx: Transaction, petId: number, before: number, after: number): Promise<string> {
  return change(tx, petId, stock => adjustUnits(stock, before, after));
}

/** Marks the pet sold when the order just completed was its last open one and no stock is left. */
export function settle(tx: Transaction, petId: number): Promise<string> {
  return change(tx, petId, settleCompleted);
}

/** Resolves with the name of a pet; `undefined` if it was deleted. */
export async function nameOf(db: Queries, petId: number | undefined): Promise<string | undefined> {
  return petId === undefined ? undefined : (await petTable.find(db, petId))?.name;
}

async function change(tx: Transaction, petId: number, rule: StockRule): Promise<string> {
  const before = await selectPetToChange(tx, petId);
  if (!before) throw new ApiError('unknown_pet', `Field \`petId\` names pet ${petId}, which does not exist`);
  const after = rule(before.stock, before.hasOpenOrders);
  if (after !== before.stock) store(tx, before, after);
  return before.pet.name;
}

/** Stores the stock and the status of a pet. */
function store(
  tx: Transaction,
  { pet, stock: before }: PetWithStock,
  after: Stock,
  reason?: StockReason,
): void {
  stockTable.sendUpdate(tx, pet.id, after);
  appendStockChange(tx, before, after, pet.name, reason);
  appendPetChange(tx, pet, { ...pet, status: after.status });
}
