import { tellOfPet, tellOfStock } from '../catalog/pets/pet-events.ts';
import { type PetWithStockRow, selectPetToChange, updateStock } from '../catalog/pets/pet-queries.ts';
import { petNotFound, toPet } from '../catalog/pets/pets.ts';
import {
  adjustUnits,
  returnUnits,
  type Stock,
  setQuantity,
  settleCompleted,
  takeUnits,
} from '../catalog/pets/stock.ts';
import { ApiError } from '../contract/errors.ts';
import type { Queries, Transaction, Writer } from '../db/database.ts';
import type { Listing } from '../db/select-page.ts';
import { mapPage, type Page } from '../kit/paging.ts';
import type { InventoryItem } from './inventory-item.ts';
import {
  type InventoryFilter,
  type InventorySort,
  type StockRow,
  selectStock,
  selectStocks,
} from './inventory-queries.ts';

export async function list(
  db: Queries,
  filter: InventoryFilter,
  listing: Listing<InventorySort>,
): Promise<Page<InventoryItem>> {
  return mapPage(await selectStocks(db, filter, listing), toItem);
}

export async function read(db: Queries, petId: number): Promise<InventoryItem> {
  const row = await selectStock(db, petId);
  if (!row) throw petNotFound(petId);
  return toItem(row);
}

export function set(
  db: Writer,
  petId: number,
  change: (current: InventoryItem) => { quantity: number },
): Promise<InventoryItem> {
  return db.write(async tx => {
    const row = await selectPetToChange(tx, petId);
    if (!row) throw petNotFound(petId);
    const before = toItem(row);
    const { quantity } = change(before);
    const item = setQuantity(before, quantity, row.has_open_orders === 1);
    await updateStock(tx, item);
    tellOfChange(tx, row, item);
    return item;
  });
}

/** Takes units of a pet for an order, in the order's transaction. */
export function take(tx: Transaction, petId: number, units: number): Promise<void> {
  return change(tx, petId, stock => takeUnits(stock, units));
}

/** Gives back units that an order held, in the order's transaction. */
export function giveBack(tx: Transaction, petId: number, units: number): Promise<void> {
  return change(tx, petId, stock => returnUnits(stock, units));
}

/** Lets an order that holds `before` units of a pet hold `after` instead, in the order's transaction. */
export function adjust(tx: Transaction, petId: number, before: number, after: number): Promise<void> {
  return change(tx, petId, stock => adjustUnits(stock, before, after));
}

/** Marks the pet sold when the order just completed was its last open one and no stock is left. */
export function settle(tx: Transaction, petId: number): Promise<void> {
  return change(tx, petId, settleCompleted);
}

async function change(
  tx: Transaction,
  petId: number,
  rule: (stock: Stock, hasOpenOrders: boolean) => Stock,
): Promise<void> {
  const row = await selectPetToChange(tx, petId);
  if (!row) throw new ApiError('unknown_pet', `\`petId\` names pet ${petId}, which does not exist`);
  const before = toItem(row);
  const after = rule(before, row.has_open_orders === 1);
  if (after === before) return;
  await updateStock(tx, after);
  tellOfChange(tx, row, after);
}

/** The stock of a pet changed, and with its status the pet. */
function tellOfChange(tx: Transaction, row: PetWithStockRow, after: Stock): void {
  const pet = toPet(row);
  tellOfStock(tx, toItem(row), after);
  tellOfPet(tx, pet, { ...pet, status: after.status });
}

/** A pet's stock is its inventory entry, field for field. */
function toItem({ id, quantity, status }: StockRow): InventoryItem {
  return { petId: id, quantity, status };
}
