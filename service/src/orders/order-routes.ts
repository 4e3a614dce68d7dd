import { lockOfPet } from '../catalog/pets/pet-queries.ts';
import { CREATED_ID } from '../contract/operation.ts';
import { pageOf } from '../contract/page.ts';
import { merged, replacement } from '../routes/change.ts';
import { defineRoute, type Route } from '../routes/define-route.ts';
import { idParams } from '../routes/id-params.ts';
import { listQuery } from '../routes/list-query.ts';
import { reply } from '../routes/reply.ts';
import { Order, OrderPatch } from './order.ts';
import { lockOfOrder, orderList } from './order-queries.ts';
import * as orders from './orders.ts';

const orderParams = idParams('orderId', 'The order.');

const changeRejections = [
  'order_not_found',
  'unknown_pet',
  'pet_not_available',
  'insufficient_stock',
  'stock_limit_exceeded',
  'order_has_no_pet',
  'order_already_complete',
] as const;

/** The lock of the pet that a body names. */
function petOf({ petId }: { petId?: number | null }): string[] {
  return petId == null ? [] : [lockOfPet(petId)];
}

export const orderRoutes = (): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/store/orders',
    operationId: 'listOrders',
    tag: 'Orders',
    summary: 'List orders',
    description: 'A page of orders that meet all filters. The URL of the next page is in the `Link` header.',
    scope: 'orders:read',
    query: listQuery(orderList),
    success: pageOf(Order, 'A page of orders.'),
    errors: [],
    hideTryIt: true,
    handler: async ({ query, db }) => reply.page(await orders.list(db, query)),
  }),

  defineRoute({
    method: 'POST',
    path: '/store/orders',
    operationId: 'placeOrder',
    tag: 'Orders',
    summary: 'Place an order',
    description:
      'Takes the units from the stock. An order without a `petId` is a draft and takes no units. With `complete: true` ' +
      'the order is placed and fulfilled in one call. An `id` in the body is ignored.',
    scope: 'orders:write',
    body: Order,
    example: { petId: 1, quantity: 1 },
    success: {
      status: 201,
      description: 'The order as placed.',
      schema: Order,
      example: { id: 1, petId: 1, quantity: 1, complete: false },
      read: { operationId: 'getOrder', parameters: { orderId: CREATED_ID } },
    },
    conditional: true,
    locks: ({ body }) => petOf(body),
    errors: ['unknown_pet', 'pet_not_available', 'insufficient_stock', 'order_has_no_pet'],
    handler: async ({ body, db, now }) => {
      const order = await orders.place(db, body, now);
      return reply.created(`/store/orders/${order.id}`, order);
    },
  }),

  defineRoute({
    method: 'GET',
    path: '/store/orders/{orderId}',
    operationId: 'getOrder',
    tag: 'Orders',
    summary: 'Read an order',
    description: 'One order by its ID.',
    scope: 'orders:read',
    params: orderParams,
    success: { status: 200, description: 'The order.', schema: Order },
    conditional: true,
    errors: ['order_not_found'],
    handler: async ({ params, db }) => reply.resource(await orders.read(db, params.orderId)),
  }),

  defineRoute({
    method: 'PUT',
    path: '/store/orders/{orderId}',
    operationId: 'replaceOrder',
    tag: 'Orders',
    summary: 'Replace an order',
    description:
      'Replaces all fields of the order, and moves units between stock and order accordingly. Fields that are left out ' +
      'get their defaults. Only the `shipDate` of a completed order can change.',
    scope: 'orders:write',
    params: orderParams,
    body: Order,
    example: { petId: 1, quantity: 2, complete: false },
    success: {
      status: 200,
      description: 'The updated order.',
      schema: Order,
      example: { id: 1, petId: 1, quantity: 2, complete: false },
    },
    conditional: true,
    locks: ({ params, body }) => [lockOfOrder(params.orderId), ...petOf(body)],
    errors: changeRejections,
    handler: async context =>
      reply.resource(
        await orders.update(context.db, context.params.orderId, replacement(context), context.now),
      ),
  }),

  defineRoute({
    method: 'PATCH',
    path: '/store/orders/{orderId}',
    operationId: 'changeOrder',
    tag: 'Orders',
    summary: 'Change or complete an order',
    description:
      'A JSON merge patch (RFC 7396): fields that are left out do not change; null removes a value. `complete: true` ' +
      'fulfils the order and sets `shipDate` to the current time if it has none. After that only `shipDate` can change.',
    scope: 'orders:write',
    params: orderParams,
    body: OrderPatch,
    success: { status: 200, description: 'The updated order.', schema: Order },
    conditional: true,
    locks: ({ params, body }) => [lockOfOrder(params.orderId), ...petOf(body)],
    errors: changeRejections,
    handler: async context =>
      reply.resource(await orders.update(context.db, context.params.orderId, merged(context), context.now)),
  }),

  defineRoute({
    method: 'DELETE',
    path: '/store/orders/{orderId}',
    operationId: 'cancelOrder',
    tag: 'Orders',
    summary: 'Cancel an order',
    description:
      'Deletes an open order and returns its units to the stock. A completed order cannot be deleted.',
    scope: 'orders:write',
    params: orderParams,
    success: { status: 204, description: 'The order was cancelled.' },
    conditional: true,
    locks: ({ params }) => [lockOfOrder(params.orderId)],
    errors: ['order_not_found', 'order_already_complete', 'stock_limit_exceeded'],
    handler: async ({ params, guard, db }) => {
      await orders.cancel(db, params.orderId, guard);
      return reply.empty;
    },
  }),
];
