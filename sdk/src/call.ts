import type { Client } from './client.ts';
import { errorOf } from './errors.ts';
import { exchange } from './exchange.ts';
import {
  type OperationName,
  type PostName,
  type PostOptions,
  type Request,
  type RequestOptions,
  type ResultOf,
  requestOf,
  type ValuesOf,
} from './request.ts';

export interface ApiResponse<T> {
  data: T;
  headers: Headers;
  status: number;
  /** The version of a resource, for `ifMatch` and `ifNoneMatch`. */
  etag: string | undefined;
}

/** A promise of the data of a response. `withResponse` returns its headers, status and ETag as well. */
export type Call<T> = Promise<T> & { withResponse: () => Promise<ApiResponse<T>> };

/** Sends the request of an operation. Rejects with a `PetStoreError`, or with the reason of the signal. */
export function call<Name extends Exclude<OperationName, PostName>>(
  client: Client,
  operation: Name,
  values: ValuesOf<Name>,
  options?: RequestOptions,
): Call<ResultOf<Name>> {
  return callOf(send(client, requestOf(client, operation, values, options)));
}

/** A key must be unique, and not secret: pages without HTTPS have no `randomUUID`. */
export const newIdempotencyKey = (): string =>
  globalThis.crypto?.randomUUID?.() ?? `${Math.random()}${Math.random()}`;

/** Returns options with the header `Idempotency-Key`. */
export const withIdempotencyKey = (options: RequestOptions & PostOptions = {}): RequestOptions => ({
  ...options,
  headers: { 'Idempotency-Key': options.idempotencyKey ?? newIdempotencyKey(), ...options.headers },
});

/** Sends the request of a POST, with an `Idempotency-Key` that stays the same when it is sent again. */
export function post<Name extends PostName>(
  client: Client,
  operation: Name,
  values: ValuesOf<Name>,
  options?: RequestOptions & PostOptions,
): Call<ResultOf<Name>> {
  return callOf(send(client, requestOf(client, operation, values, withIdempotencyKey(options))));
}

/** Returns the call that has this response. */
export function callOf<T>(response: Promise<ApiResponse<T>>): Call<T> {
  const data = response.then(({ data }) => data);
  const withResponse = () => {
    // The caller gets the error from `response`.
    data.catch(() => {});
    return response;
  };
  return Object.assign(data, { withResponse });
}

/** Sends a request and reads its response. Throws an `ApiError` for JSON of another form: it begins with `form`. */
export function send<T>(client: Client, request: Request, form: '{' | '[' = '{'): Promise<ApiResponse<T>> {
  return exchange(client, request, async response => {
    const { headers, status } = response;
    const text = await response.text();
    const isJson = request.options.accepts === 'json';
    if (isJson && text[0] !== form) throw errorOf(response, text, request.url);
    const data = isJson ? JSON.parse(text) : text || undefined;
    return { data, headers, status, etag: headers.get('ETag') ?? undefined };
  });
}
