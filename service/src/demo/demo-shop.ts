import * as categories from '../catalog/categories/categories.ts';
import * as pets from '../catalog/pets/pets.ts';
import type { Writer } from '../db/database.ts';
import * as inventory from '../inventory/inventory.ts';
import { DAY } from '../kit/clock.ts';
import { formatDateTime } from '../kit/dates.ts';
import * as orders from '../orders/orders.ts';
import { demoCategories, demoOrders } from './demo-data.ts';

/**
 * Fills a store that has no category with the demo shop, through the operations of the shop and in one transaction. Returns
 * whether it did.
 */
export async function fillEmptyStore(db: Writer, now: number): Promise<boolean> {
  return db.write(async tx => {
    const [, { items }] = await Promise.all([
      tx.lock('demo shop'),
      categories.list(tx, { sort: 'id', limit: 1 }),
    ]);
    if (items.length > 0) return false;
    const petIds = new Map<string, number>();
    for (const { pets: animals, ...category } of demoCategories) {
      const { id: categoryId } = await categories.create(tx, category);
      for (const [name, stock] of Object.entries(animals)) {
        const pet = await pets.create(tx, { name, categoryId });
        petIds.set(name, pet.id);
        if (stock > 1) await inventory.set(tx, pet.id, () => ({ quantity: stock }));
      }
    }
    for (const { pet, quantity, shipsInDays, complete } of demoOrders) {
      const petId = pet && petIds.get(pet);
      const order = {
        ...(petId && { petId }),
        ...(shipsInDays !== undefined && { shipDate: formatDateTime(now + shipsInDays * DAY) }),
        quantity,
        complete,
      };
      await orders.place(tx, order, now);
    }
    return true;
  });
}
