import { type Call, call, post } from '../call.ts';
import type { Client } from '../client.ts';
import type { StoredOrder } from '../contract.ts';
import { type List, list as listOf } from '../list.ts';
import type { BodyOf, CallOptions, PostOptions, QueryOf } from '../request.ts';

/** Lists orders. */
export const list = (
  client: Client,
  query?: QueryOf<'GET /store/orders'>,
  options?: CallOptions,
): List<StoredOrder> => listOf(client, 'GET /store/orders', [query], options);

/** Places an order. With `complete: true` it sells the units at once. */
export const create = (
  client: Client,
  body: BodyOf<'POST /store/orders'>,
  options?: PostOptions,
): Call<StoredOrder> => post(client, 'POST /store/orders', [body], options);

/** Reads an order. */
export const get = (client: Client, orderId: number, options?: CallOptions): Call<StoredOrder> =>
  call(client, 'GET /store/orders/{orderId}', [orderId], options);

/** Replaces all fields of an order. */
export const replace = (
  client: Client,
  orderId: number,
  body: BodyOf<'PUT /store/orders/{orderId}'>,
  options?: CallOptions,
): Call<StoredOrder> => call(client, 'PUT /store/orders/{orderId}', [orderId, body], options);

/** Changes fields of an order; `complete: true` completes it. */
export const update = (
  client: Client,
  orderId: number,
  body: BodyOf<'PATCH /store/orders/{orderId}'>,
  options?: CallOptions,
): Call<StoredOrder> => call(client, 'PATCH /store/orders/{orderId}', [orderId, body], options);

/** Cancels an open order, and returns its units to the stock. */
export const cancel = (client: Client, orderId: number, options?: CallOptions): Call<undefined> =>
  call(client, 'DELETE /store/orders/{orderId}', [orderId], options);
