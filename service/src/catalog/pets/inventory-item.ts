import { id, int32, MAX_INT32 } from '../../contract/schema.ts';
import { shape } from '../../contract/shape.ts';
import type { Static } from '../../contract/static.ts';
import { PetStatus } from './pet.ts';

export const InventoryItem = shape({
  title: 'InventoryItem',
  properties: {
    petId: { ...id, description: 'ID of the animal the entry tracks.' },
    quantity: {
      ...int32,
      minimum: 0,
      maximum: MAX_INT32,
      description: 'Current stock count: the units that can still be ordered.',
    },
    status: PetStatus,
  },
  example: { petId: 1, quantity: 3, status: 'available' },
});

export type InventoryItem = Static<typeof InventoryItem>;
