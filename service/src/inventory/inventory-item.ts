import { int32, MAX_INT32, nameText } from '../contract/schema.ts';
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
    reason: {
      type: 'string',
      enum: ['received', 'sold', 'returned', 'counted', 'damaged', 'lost', 'corrected'],
      description: 'Why the stock changes. The event and the history have it.',
    },
    note: { ...nameText, description: 'A note for people who read the history.' },
  },
  example: { delta: 5, reason: 'received' },
} as const;

export type InventoryUpdate = Static<typeof InventoryUpdate>;
export type StockAdjustment = Static<typeof StockAdjustment>;
