import type { ChangeDetails, Transaction } from '../../db/database.ts';
import { EventKind } from '../../events/event-log/event-kind.ts';
import { InventoryItem } from './inventory-item.ts';
import { Pet, petTable } from './pet.ts';
import { stockTable } from './pet-queries.ts';
import type { Stock } from './stock.ts';

export const petEvents = new EventKind({
  title: 'PetEvent',
  types: ['pet.created', 'pet.updated', 'pet.deleted'],
  data: Pet,
});

export const inventoryEvents = new EventKind({
  title: 'InventoryEvent',
  types: ['inventory.updated'],
  data: InventoryItem,
});

/** Appends `pet.updated` if the pet changed. */
export function appendPetChange(tx: Transaction, before: Pet, after: Pet): void {
  if (petTable.differ(before, after)) petEvents.append(tx, 'pet.updated', after.id, after, { before });
}

/** Why staff changed a stock. */
export type StockReason = Pick<ChangeDetails, 'reason' | 'note'>;

/** Appends `inventory.updated` if the pet's inventory entry changed. `name` is that of the pet. */
export function appendStockChange(
  tx: Transaction,
  before: Stock,
  after: Stock,
  name: string,
  reason: StockReason = {},
): void {
  if (!stockTable.differ(before, after)) return;
  inventoryEvents.append(tx, 'inventory.updated', after.petId, after, { before, name, ...reason });
}
