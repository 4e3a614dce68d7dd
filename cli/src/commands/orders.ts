import { command } from '../command.ts';
import { changes, defined, each, eachDone, pageSize } from '../items.ts';
import { flag, id, integer, oneOf, removable, removableId, required, several, text } from '../parameters.ts';
import { order, outcome } from '../resources.ts';

const ids = several(required(id('The orders')));
const TIME = 'time, such as 2027-01-31T12:00:00Z';

const list = command({
  name: 'orders list',
  summary: 'List orders',
  options: {
    pet: several(id('Only orders for this pet; can be repeated')),
    complete: oneOf('Only complete orders (true) or open ones (false)', 'true', 'false'),
    shipFrom: text(`Only orders that ship at this ${TIME}, or later`, 'time'),
    shipTo: text('Only orders that ship before this time', 'time'),
    sort: oneOf('The order; a leading - means descending', 'id', '-id', 'shipDate', '-shipDate'),
  },
  examples: ['petstore orders list --complete false', 'petstore orders list --pet 7 --sort=-id --limit 5'],
  operations: ['GET /store/orders'],
  output: 'list',
  prints: order,
  run: (context, { pet, complete, shipFrom, shipTo, sort }) =>
    context.store.orders.list(
      {
        ...pageSize(context),
        petId: pet,
        complete: complete && complete === 'true',
        shipDateFrom: shipFrom,
        shipDateTo: shipTo,
        sort,
      },
      context.calls,
    ),
});

const get = command({
  name: 'orders get',
  summary: 'Show orders',
  arguments: { ids },
  examples: ['petstore orders get 15'],
  operations: ['GET /store/orders/{orderId}'],
  output: 'items',
  prints: order,
  run: (context, { ids }) => each(context, ids, id => context.store.orders.get(id, context.calls)),
});

const place = command({
  name: 'orders place',
  summary: 'Place an order',
  details: 'Without a pet the order is a draft, which holds no stock.',
  arguments: { pet: id('The pet to order') },
  options: {
    quantity: integer('The number of units; 1 unless set'),
    shipDate: text(`When the order is to ship: a ${TIME}`, 'time'),
    complete: flag('Complete the order at once: a sale over the counter'),
  },
  examples: ['petstore orders place 41', 'petstore orders place 41 --quantity 2 --complete'],
  operations: ['POST /store/orders'],
  output: 'item',
  prints: order,
  run: ({ store, calls }, { pet, quantity, shipDate, complete }) =>
    store.orders.create(defined({ petId: pet, quantity, shipDate, complete }), calls),
});

const update = command({
  name: 'orders update',
  summary: 'Change fields of an order',
  arguments: { id: required(id('The order')) },
  options: {
    pet: removableId('The pet'),
    quantity: integer('The number of units'),
    shipDate: removable(`The ship date: a ${TIME}`, 'time'),
  },
  examples: ['petstore orders update 15 --quantity 2', 'petstore orders update 15 --ship-date ""'],
  operations: ['PATCH /store/orders/{orderId}'],
  output: 'item',
  prints: order,
  run: ({ store, calls }, { id, pet, quantity, shipDate }) =>
    store.orders.update(id, changes({ petId: pet, quantity, shipDate }), calls),
});

const complete = command({
  name: 'orders complete',
  summary: 'Complete orders',
  arguments: { ids },
  examples: ['petstore orders complete 15', 'petstore orders complete 15 16'],
  operations: ['PATCH /store/orders/{orderId}'],
  output: 'items',
  prints: order,
  run: (context, { ids }) =>
    each(context, ids, id => context.store.orders.update(id, { complete: true }, context.calls)),
});

const cancel = command({
  name: 'orders cancel',
  summary: 'Cancel open orders, and return their units to the stock',
  arguments: { ids },
  examples: ['petstore orders cancel 15'],
  operations: ['DELETE /store/orders/{orderId}'],
  output: 'items',
  prints: outcome,
  run: (context, { ids }) =>
    eachDone(context, ids, 'cancelled', id => context.store.orders.cancel(id, context.calls)),
});

export const orders = [list, get, place, update, complete, cancel];
