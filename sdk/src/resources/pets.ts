import { type Call, call, post } from '../call.ts';
import type { Client } from '../client.ts';
import type { Pet } from '../contract.ts';
import { type List, list as listOf } from '../list.ts';
import type { BodyOf, CallOptions, QueryOf } from '../request.ts';

/** Lists pets. */
export const list = (client: Client, query?: QueryOf<'GET /pets'>, options?: CallOptions): List<Pet> =>
  listOf(client, 'GET /pets', { query }, options);

/** Creates a pet. */
export const create = (client: Client, body: BodyOf<'POST /pets'>, options?: CallOptions): Call<Pet> =>
  post(client, 'POST /pets', { body }, options);

/**
 * Reads a pet.
 *
 * @deprecated It ends on 2030-12-05: use `list({ id: petId }).first()` instead.
 */
export const get = (client: Client, petId: number, options?: CallOptions): Call<Pet> =>
  call(client, 'GET /pets/{petId}', { path: { petId } }, options);

/** Replaces all fields of a pet. Without `status` it keeps its status. */
export const replace = (
  client: Client,
  petId: number,
  body: BodyOf<'PUT /pets/{petId}'>,
  options?: CallOptions,
): Call<Pet> => call(client, 'PUT /pets/{petId}', { path: { petId }, body }, options);

/** Changes fields of a pet. */
export const update = (
  client: Client,
  petId: number,
  body: BodyOf<'PATCH /pets/{petId}'>,
  options?: CallOptions,
): Call<Pet> => call(client, 'PATCH /pets/{petId}', { path: { petId }, body }, options);

/** Deletes a pet that has no open orders. */
const remove = (client: Client, petId: number, options?: CallOptions): Call<undefined> =>
  call(client, 'DELETE /pets/{petId}', { path: { petId } }, options);

export { remove as delete };
