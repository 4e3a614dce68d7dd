import type { InventoryItem, PetStore } from '@petstore/client';

/** Whether a new stock would end the hold that staff have put an animal on: with stock 0 it is sold, or left to its orders. */
export function endsHold({ status, quantity }: InventoryItem, next: number): boolean {
  return status === 'pending' && quantity > 0 && next === 0;
}

/**
 * Puts an animal on hold again if a change of its stock from `before` to `changed` ended that, and undoing the change made the
 * animal available. Returns its entry.
 */
export async function holdAgain(
  store: PetStore,
  before: InventoryItem,
  changed: InventoryItem,
  undone: InventoryItem,
): Promise<InventoryItem> {
  if (!endsHold(before, changed.quantity) || undone.status !== 'available') return undone;
  await store.pets.update(undone.petId, { status: 'pending' });
  return { ...undone, status: 'pending' };
}
