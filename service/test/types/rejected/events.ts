import type { InventoryItem } from '../../../src/catalog/pets/inventory-item.ts';
import { petEvents } from '../../../src/catalog/pets/pet-events.ts';
import type { Transaction } from '../../../src/db/database.ts';
import { EventKind } from '../../../src/events/event-log/event-kind.ts';
import { orderEvents } from '../../../src/orders/order.ts';

declare const tx: Transaction;
const pet = { id: 1, name: 'Biscuit', categoryId: 1, status: 'available' } as const;
const item: InventoryItem = { petId: 1, quantity: 1, status: 'available' };
const data = { type: 'object', example: {} } as const;

// These compile.
petEvents.append(tx, 'pet.updated', 1, pet);
new EventKind({ title: 'PetEvent', types: ['pet.created'], data });

// Rejected: 'categoryId' is missing
petEvents.append(tx, 'pet.updated', 1, { id: 1, name: 'Biscuit' });
// Rejected: '"order.placed"' is not assignable to parameter of type '"pet.created"
petEvents.append(tx, 'order.placed', 1, pet);
// Rejected: 'name' does not exist in type
orderEvents.append(tx, 'order.placed', 1, { name: 'Biscuit' });
// Rejected: "Not part of the schema: name"
orderEvents.append(tx, 'order.placed', 1, pet);
// Rejected: "Not part of the schema: status"
orderEvents.append(tx, 'order.placed', 1, item);
// Rejected: "Not part of the schema: hash"
petEvents.append(tx, 'pet.updated', 1, { ...pet, hash: '9c1e5f0a' });
// Rejected: is not assignable to type
new EventKind({ title: 'PetEvent', types: ['pet.found'], data });
