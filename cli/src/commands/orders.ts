import { ask, canAsk } from '../ask.ts';
import { command } from '../command.ts';
import { changes, defined, each, eachDone, orAll, pageSize } from '../items.ts';
import {
  flag,
  id,
  integer,
  oneOf,
  removable,
  removableId,
  required,
  several,
  text,
  time,
} from '../parameters.ts';
import { order, outcome } from '../resources.ts';

const ids = several(required(id('The orders')));
const TIME = 'time, such as 2027-01-31T12:00:00Z';

const list = command({
  name: 'orders list',
  summary: 'List orders',
  options: {
    pet: several(id('Only orders for this pet; can be repeated')),
    complete: oneOf('Only complete orders (true) or open ones (false)', 'true', 'false'),
    shipSince: time('Only orders that ship at this time or later: 2027-01-31, 2d or 2027-01-31T12:00:00Z'),
    shipUntil: time('Only orders that ship before this time, written in the same way'),
    sort: oneOf('The order; a leading - means descending', 'id', '-id', 'shipDate', '-shipDate'),
  },
  examples: ['petstore orders list --complete false', 'petstore orders list --pet 7 --sort=-id --limit 5'],
  operations: ['GET /store/orders'],
  output: 'list',
  prints: order,
  run: (context, { pet, complete, shipSince, shipUntil, sort }) =>
    context.store.orders.list(
      {
        ...pageSize(context),
        petId: orAll(pet),
        complete: complete && complete === 'true',
        shipDateFrom: shipSince,
        shipDateTo: shipUntil,
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

const create = command({
  name: 'orders create',
  aliases: ['orders place'],
  summary: 'Place an order',
  details:
    'On a terminal it asks for a pet that is missing. Without a pet the order is a draft, which holds no stock.',
  arguments: { pet: id('The pet to order') },
  options: {
    quantity: integer('The number of units; 1 unless set'),
    shipDate: text(`When the order is to ship: a ${TIME}`, 'time'),
    complete: flag('Complete the order at once: a sale over the counter'),
  },
  examples: ['petstore orders create 41', 'petstore orders create 41 --quantity 2 --complete'],
  operations: ['POST /store/orders'],
  output: 'item',
  prints: order,
  run: async ({ store, calls, note }, { pet, quantity, shipDate, complete }) => {
    const petId = pet ?? (canAsk() ? await askForPet(calls.signal) : undefined);
    const order = await store.orders.create(defined({ petId, quantity, shipDate, complete }), calls);
    if (petId === undefined)
      note(
        `The order is a draft, which holds no stock: petstore orders update ${order.id} --pet PET adds a pet`,
      );
    return order;
  },
});

async function askForPet(signal: AbortSignal | undefined): Promise<number | undefined> {
  const answer = await ask(signal, { prompt: 'ID of the pet (nothing for a draft):' });
  return answer === '' ? undefined : id('').parse(answer);
}

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

const remove = command({
  name: 'orders delete',
  aliases: ['orders cancel'],
  confirms: 'Cancel orders',
  summary: 'Cancel open orders, and return their units to the stock',
  arguments: { ids },
  examples: ['petstore orders delete 15'],
  operations: ['DELETE /store/orders/{orderId}'],
  output: 'items',
  prints: outcome,
  run: (context, { ids }) =>
    eachDone(context, ids, 'cancelled', id => context.store.orders.cancel(id, context.calls)),
});

export const orders = [list, get, create, update, complete, remove];
