import type { Transaction } from '../../db/database.ts';
import { appendEvent } from '../../events/event-log/append.ts';
import { type Pet, petTable } from './pet.ts';
import { stockTable } from './pet-queries.ts';
import type { Stock } from './stock.ts';

/** Logs the change of a pet, if it is one. */
export function appendPetChange(tx: Transaction, before: Pet, after: Pet): void {
  if (petTable.differ(before, after)) appendEvent(tx, 'pet.updated', after.id, after);
}

/** Logs the change of a pet's inventory entry, if it is one. */
export function appendStockChange(tx: Transaction, before: Stock, after: Stock): void {
  if (stockTable.differ(before, after)) appendEvent(tx, 'inventory.updated', after.petId, after);
}
