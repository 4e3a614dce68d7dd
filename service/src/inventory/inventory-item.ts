import { int32, MAX_INT32, nameText } from '../contract/schema.ts';
import { shape } from '../contract/shape.ts';
import type { Static } from '../contract/static.ts';

export const InventoryUpdate = shape({
  title: 'InventoryUpdate',
  properties: {
    quantity: { ...int32, minimum: 0, maximum: MAX_INT32, description: 'The new stock count.' },
  },
  example: { quantity: 3 },
});

export const StockAdjustment = shape({
  title: 'StockAdjustment',
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
  optional: ['reason', 'note'],
  example: { delta: 5, reason: 'received' },
});

export type InventoryUpdate = Static<typeof InventoryUpdate>;
export type StockAdjustment = Static<typeof StockAdjustment>;
