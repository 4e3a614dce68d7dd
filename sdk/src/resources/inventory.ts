import { type Call, call, post } from '../call.ts';
import type { Client } from '../client.ts';
import type { InventoryItem } from '../contract.ts';
import { type List, list as listOf } from '../list.ts';
import type { BodyOf, CallOptions, PostOptions, QueryOf } from '../request.ts';

/** Lists the stock of all pets. */
export const list = (
  client: Client,
  query?: QueryOf<'GET /store/inventory'>,
  options?: CallOptions,
): List<InventoryItem> => listOf(client, 'GET /store/inventory', [query], options);

/** Reads the stock of a pet. */
export const get = (client: Client, petId: number, options?: CallOptions): Call<InventoryItem> =>
  call(client, 'GET /store/inventory/{petId}', [petId], options);

/** Sets the stock of a pet to a number of units. */
export const set = (
  client: Client,
  petId: number,
  body: BodyOf<'PUT /store/inventory/{petId}'>,
  options?: CallOptions,
): Call<InventoryItem> => call(client, 'PUT /store/inventory/{petId}', [petId, body], options);

/** Adds units to the stock of a pet; a negative `delta` removes them. Experimental. */
export const adjust = (
  client: Client,
  petId: number,
  body: BodyOf<'POST /store/inventory/{petId}/adjustments'>,
  options?: PostOptions,
): Call<InventoryItem> => post(client, 'POST /store/inventory/{petId}/adjustments', [petId, body], options);
