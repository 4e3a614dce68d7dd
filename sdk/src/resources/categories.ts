import { type Call, call, post } from '../call.ts';
import type { Client } from '../client.ts';
import type { Category } from '../contract.ts';
import { type List, list as listOf } from '../list.ts';
import type { BodyOf, CallOptions, PostOptions, QueryOf } from '../request.ts';

/** Lists categories. */
export const list = (
  client: Client,
  query?: QueryOf<'GET /categories'>,
  options?: CallOptions,
): List<Category> => listOf(client, 'GET /categories', [query], options);

/** Creates a category. */
export const create = (
  client: Client,
  body: BodyOf<'POST /categories'>,
  options?: PostOptions,
): Call<Category> => post(client, 'POST /categories', [body], options);

/** Reads a category. */
export const get = (client: Client, categoryId: number, options?: CallOptions): Call<Category> =>
  call(client, 'GET /categories/{categoryId}', [categoryId], options);

/** Replaces all fields of a category. */
export const replace = (
  client: Client,
  categoryId: number,
  body: BodyOf<'PUT /categories/{categoryId}'>,
  options?: CallOptions,
): Call<Category> => call(client, 'PUT /categories/{categoryId}', [categoryId, body], options);

/** Changes fields of a category; null removes a value. */
export const update = (
  client: Client,
  categoryId: number,
  body: BodyOf<'PATCH /categories/{categoryId}'>,
  options?: CallOptions,
): Call<Category> => call(client, 'PATCH /categories/{categoryId}', [categoryId, body], options);

/** Deletes a category that has no pets. */
const remove = (client: Client, categoryId: number, options?: CallOptions): Call<undefined> =>
  call(client, 'DELETE /categories/{categoryId}', [categoryId], options);

export { remove as delete };
