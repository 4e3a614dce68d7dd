import { MAX_INT32 } from '../contract/schema.ts';
import type { Static } from '../contract/static.ts';

export const InventoryUpdate = {
  title: 'InventoryUpdate',
  type: 'object',
  required: ['quantity'],
  additionalProperties: false,
  properties: {
    quantity: { type: 'integer', minimum: 0, maximum: MAX_INT32, description: 'The new stock count.' },
  },
  example: { quantity: 3 },
} as const;

export type InventoryUpdate = Static<typeof InventoryUpdate>;
