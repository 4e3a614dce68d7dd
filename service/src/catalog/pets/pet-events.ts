import type { Transaction } from '../../db/database.ts';
import { appendEvent } from '../../events/event-log/append.ts';
import { type Pet, petTable } from './pet.ts';
import { stockTable } from './pet-queries.ts';
import type { Stock } from './stock.ts';

/** Appends `pet.updated` if the pet changed. */
export function appendPetChange(tx: Transaction, before: Pet, after: Pet): void {
  if (petTable.differ(before, after)) appendEvent(tx, 'pet.updated', after.id, after);
}

/** Appends `inventory.updated` if the pet's inventory entry changed. */
export function appendStockChange(tx: Transaction, before: Stock, after: Stock): void {
  if (stockTable.differ(before, after)) appendEvent(tx, 'inventory.updated', after.petId, after);
}
