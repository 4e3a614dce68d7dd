import { InventoryItem } from '../catalog/pets/inventory-item.ts';
import { lockOfPet } from '../catalog/pets/pet-queries.ts';
import { pageOf } from '../contract/page.ts';
import { replacement } from '../routes/change.ts';
import { defineRoute, type Route } from '../routes/define-route.ts';
import { idParams } from '../routes/id-params.ts';
import { listQuery } from '../routes/list-query.ts';
import { reply } from '../routes/reply.ts';
import * as inventory from './inventory.ts';
import { InventoryUpdate, StockAdjustment } from './inventory-item.ts';
import { stockList } from './inventory-queries.ts';

const petParams = idParams('petId', 'The pet that the entry belongs to.');

const consequences =
  'A stock of 0 makes the pet `sold`, or `pending` while it has open orders. A stock above 0 makes a pet that had none ' +
  '`available` again.';

export const inventoryRoutes = (): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/store/inventory',
    operationId: 'listInventory',
    tag: 'Inventory',
    summary: 'List stock',
    description:
      'A page of inventory entries, one per pet. The URL of the next page is in the `Link` header.',
    scope: 'inventory:read',
    query: listQuery(stockList),
    success: pageOf(InventoryItem, 'A page of inventory entries.'),
    errors: [],
    handler: async ({ query, db }) => reply.page(await inventory.list(db, query)),
  }),

  defineRoute({
    method: 'GET',
    path: '/store/inventory/{petId}',
    operationId: 'getInventoryItem',
    tag: 'Inventory',
    summary: 'Read the stock of a pet',
    description: 'The inventory entry of one pet.',
    scope: 'inventory:read',
    params: petParams,
    success: { status: 200, description: 'The inventory entry.', schema: InventoryItem },
    conditional: true,
    errors: ['pet_not_found'],
    handler: async ({ params, db }) => reply.resource(await inventory.read(db, params.petId)),
  }),

  ...(['PUT', 'PATCH'] as const).map(method =>
    defineRoute({
      method,
      path: '/store/inventory/{petId}',
      operationId: method === 'PUT' ? 'setStock' : 'changeStock',
      tag: 'Inventory',
      summary: method === 'PUT' ? 'Set the stock of a pet' : 'Change the stock of a pet',
      description: `Sets the number of units that can still be ordered. ${consequences}`,
      scope: 'inventory:write',
      params: petParams,
      body: InventoryUpdate,
      setElsewhere: {
        status: 'it follows from the stock, and PATCH /pets/{petId} changes it',
        delta: 'POST /store/inventory/{petId}/adjustments changes the stock by a number of units',
      },
      success: { status: 200, description: 'The updated inventory entry.', schema: InventoryItem },
      conditional: true,
      locks: ({ params }) => [lockOfPet(params.petId)],
      errors: ['pet_not_found'],
      ...(method === 'PATCH' && {
        deprecation: { since: '2026-11-21', sunset: '2030-12-05', successor: 'PUT /store/inventory/{petId}' },
      }),
      handler: async context =>
        reply.resource(await inventory.set(context.db, context.params.petId, replacement(context))),
    }),
  ),

  defineRoute({
    method: 'POST',
    path: '/store/inventory/{petId}/adjustments',
    operationId: 'adjustStock',
    tag: 'Inventory',
    summary: 'Add or remove units',
    description:
      'Changes the stock relative to its current value, so that no change is lost when several are made at once. ' +
      `${consequences} A \`reason\` and a \`note\` appear in the event and in the history.`,
    scope: 'inventory:write',
    stability: 'experimental',
    params: petParams,
    body: StockAdjustment,
    setElsewhere: { quantity: 'PUT /store/inventory/{petId} sets it, and `delta` is the difference' },
    success: {
      status: 200,
      description: 'The updated inventory entry.',
      schema: InventoryItem,
      example: { petId: 1, quantity: 8, status: 'available' },
    },
    conditional: true,
    locks: ({ params }) => [lockOfPet(params.petId)],
    errors: ['pet_not_found', 'insufficient_stock', 'stock_limit_exceeded'],
    handler: async ({ params, body, guard, db }) =>
      reply.resource(await inventory.adjustBy(db, params.petId, body, guard)),
  }),
];
