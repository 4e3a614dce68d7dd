import { int32, MAX_INT32 } from '../contract/schema.ts';
import type { Static } from '../contract/static.ts';

export const InventoryUpdate = {
  title: 'InventoryUpdate',
  type: 'object',
  required: ['quantity'],
  additionalProperties: false,
  properties: {
    quantity: { ...int32, minimum: 0, maximum: MAX_INT32, description: 'The new stock count.' },
  },
  example: { quantity: 3 },
} as const;

export const StockAdjustment = {
  title: 'StockAdjustment',
  type: 'object',
  required: ['delta'],
  additionalProperties: false,
  properties: {
    delta: {
      ...int32,
      minimum: -MAX_INT32,
      maximum: MAX_INT32,
      description: 'Units to add to the stock; a negative number removes units, and 0 changes nothing.',
    },
  },
  example: { delta: 5 },
} as const;

export type InventoryUpdate = Static<typeof InventoryUpdate>;
