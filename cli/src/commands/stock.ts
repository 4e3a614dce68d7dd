import type { StockAdjustment } from '@petstore/client';
import { command } from '../command.ts';
import { each, orAll, pageSize } from '../items.ts';
import { id, integer, oneOf, required, several, text } from '../parameters.ts';
import { stock as entry } from '../resources.ts';

const pet = required(id('The pet'));

const reasons = [
  'received',
  'sold',
  'returned',
  'counted',
  'damaged',
  'lost',
  'corrected',
] as const satisfies readonly StockAdjustment['reason'][];

const list = command({
  name: 'stock list',
  summary: 'List the stock of all pets',
  options: {
    status: several(oneOf('Only pets with this status; can be repeated', 'available', 'pending', 'sold')),
    category: id('Only pets of this category'),
    below: integer('Only pets with fewer units than this'),
    sort: oneOf('The order; a leading - means descending', 'petId', '-petId', 'quantity', '-quantity'),
  },
  examples: ['petstore stock list --below 3', 'petstore stock list --status available --json'],
  operations: ['GET /store/inventory'],
  output: 'list',
  prints: entry,
  run: (context, { status, category, below, sort }) =>
    context.store.inventory.list(
      { ...pageSize(context), status: orAll(status), categoryId: category, quantityBelow: below, sort },
      context.calls,
    ),
});

const get = command({
  name: 'stock get',
  summary: 'Show the stock of pets',
  arguments: { pets: several(required(id('The pets'))) },
  examples: ['petstore stock get 7', 'petstore stock get 7 8 9'],
  operations: ['GET /store/inventory/{petId}'],
  output: 'items',
  prints: entry,
  run: (context, { pets }) => each(context, pets, id => context.store.inventory.get(id, context.calls)),
});

const update = command({
  name: 'stock update',
  aliases: ['stock set'],
  summary: 'Set the stock of a pet',
  arguments: { pet, quantity: required(integer('The units in stock', 'quantity')) },
  examples: ['petstore stock update 7 12'],
  operations: ['PUT /store/inventory/{petId}'],
  output: 'item',
  prints: entry,
  run: ({ store, calls }, { pet, quantity }) => store.inventory.set(pet, { quantity }, calls),
});

const adjust = command({
  name: 'stock adjust',
  summary: 'Add units to the stock of a pet, or remove them',
  details: 'Experimental. The reason and the note are part of the history.',
  arguments: { pet, delta: required(integer('The units to add; a negative number removes them', 'delta')) },
  options: {
    reason: oneOf('Why the stock changes', ...reasons),
    note: text('What else people should know, up to 200 characters'),
  },
  examples: [
    'petstore stock adjust 7 5 --reason received',
    'petstore stock adjust 7 -2 --reason damaged --note "The cage door broke"',
  ],
  operations: ['POST /store/inventory/{petId}/adjustments'],
  output: 'item',
  prints: entry,
  run: ({ store, calls }, { pet, delta, reason, note }) =>
    store.inventory.adjust(pet, { delta, ...(reason && { reason }), ...(note && { note }) }, calls),
});

export const stock = [list, get, update, adjust];
