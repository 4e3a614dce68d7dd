import type { Transaction } from '../../db/database.ts';
import { appendEvent } from '../../events/event-log/append.ts';
import type { Pet } from './pet.ts';
import type { Stock } from './stock.ts';

/** Tells that a pet is not what it was, if that is so. */
export function tellOfPet(tx: Transaction, before: Pet, after: Pet): void {
  const same =
    before.name === after.name && before.categoryId === after.categoryId && before.status === after.status;
  if (!same) appendEvent(tx, 'pet.updated', after.id, after);
}

/** The same of its inventory entry. */
export function tellOfStock(tx: Transaction, before: Stock, after: Stock): void {
  const same = before.quantity === after.quantity && before.status === after.status;
  if (!same) appendEvent(tx, 'inventory.updated', after.petId, after);
}
