import { type ApiResponse, type Call, call, callOf, post, send } from '../call.ts';
import type { Client } from '../client.ts';
import type { StoredPet } from '../contract.ts';
import { errorWith } from '../errors.ts';
import { type List, list as listOf } from '../list.ts';
import { type BodyOf, type CallOptions, type PostOptions, type QueryOf, requestOf } from '../request.ts';

/** Lists pets. */
export const list = (client: Client, query?: QueryOf<'GET /pets'>, options?: CallOptions): List<StoredPet> =>
  listOf(client, 'GET /pets', [query], options);

/** Creates a pet. */
export const create = (client: Client, body: BodyOf<'POST /pets'>, options?: PostOptions): Call<StoredPet> =>
  post(client, 'POST /pets', [body], options);

/** Reads a pet. */
export const get = (client: Client, petId: number, options?: CallOptions): Call<StoredPet> => {
  const request = requestOf(client, 'GET /pets', [{ id: String(petId) }], options);
  return callOf(
    send<StoredPet[]>(client, request, '[').then(response => ({ ...response, data: found(response) })),
  );
};

/** The list of a pet that does not exist is empty. */
function found({ data: [pet], headers }: ApiResponse<StoredPet[]>): StoredPet {
  if (pet) return pet;
  throw errorWith('There is no pet with this ID', {
    code: 'pet_not_found',
    status: 404,
    requestId: headers.get('X-Request-Id') ?? undefined,
  });
}

/** Replaces all fields of a pet. Without `status` it keeps its status. */
export const replace = (
  client: Client,
  petId: number,
  body: BodyOf<'PUT /pets/{petId}'>,
  options?: CallOptions,
): Call<StoredPet> => call(client, 'PUT /pets/{petId}', [petId, body], options);

/** Changes fields of a pet. */
export const update = (
  client: Client,
  petId: number,
  body: BodyOf<'PATCH /pets/{petId}'>,
  options?: CallOptions,
): Call<StoredPet> => call(client, 'PATCH /pets/{petId}', [petId, body], options);

/** Deletes a pet that has no open orders. */
const remove = (client: Client, petId: number, options?: CallOptions): Call<undefined> =>
  call(client, 'DELETE /pets/{petId}', [petId], options);

export { remove as delete };
