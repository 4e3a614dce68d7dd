import type { Client } from './client.ts';
import type { Operations } from './contract.ts';
import { defined } from './defined.ts';
import { ownHeaders } from './own-headers.ts';
import type { Pacer } from './pacer.ts';

/** The options of one call. */
export interface CallOptions {
  /** Ends the call with its waits and retries: it throws the reason of the signal. `AbortSignal.timeout` sets a deadline. */
  signal?: AbortSignal | undefined;
  /** See `ClientOptions`. */
  timeout?: number | undefined;
  /** See `ClientOptions`. */
  maxWait?: number | undefined;
  /** See `ClientOptions`. */
  maxRetries?: number | undefined;
  /** An ETag: the service reads or changes the resource only if it still has it. Otherwise the call throws `PreconditionError`. */
  ifMatch?: string | undefined;
  /** An ETag: if the resource still has it, the call throws `NotModified`. */
  ifNoneMatch?: string | undefined;
  /** Further headers, such as `traceparent` and `X-Request-Id`. */
  headers?: Record<string, string> | undefined;
}

/** The options of a call that sends a POST. */
export interface PostOptions extends CallOptions {
  /** Identifies the operation. Calls with the same key are executed once in 24 hours; random unless set. */
  idempotencyKey?: string | undefined;
}

/** The operations of the contract, such as `GET /pets`. */
export type OperationName = keyof Operations;
/** The operations that are sent with an `Idempotency-Key`. */
export type PostName = Extract<OperationName, `POST ${string}`>;
export type ResultOf<Name extends OperationName> = Operations[Name]['result'];
export type QueryOf<Name extends OperationName> = Operations[Name] extends { query: infer Query }
  ? Query
  : never;
export type BodyOf<Name extends OperationName> = Operations[Name] extends { body?: infer Body }
  ? Body
  : never;

/** What an operation takes: the IDs in its path, then the query of a GET or the body of another method. */
export type ValuesOf<Name extends OperationName> = [...IdsOf<Name>, ...InputOf<Operations[Name]>];
type IdsOf<Name extends string> = Name extends `${string}{${string}}${infer Rest}`
  ? [id: number, ...IdsOf<Rest>]
  : [];
type InputOf<Operation> = Operation extends { query: infer Query }
  ? [query: Query | undefined]
  : Operation extends { body: infer Body }
    ? [body: Body]
    : 'body' extends keyof Operation
      ? [body: Operation['body']]
      : [];

/** The request of an operation. */
export interface Request {
  operation: string;
  url: string;
  init: RequestInit & { method: string; headers: Record<string, string> };
  options: RequestOptions;
}

/** What the functions of a resource decide for their operations. */
export interface RequestOptions extends CallOptions {
  /** The pacer of the operation, unless it is that of the API key. */
  pacer?: Pacer;
  /** Whether the response may take long by design. */
  isSlow?: boolean;
  /** As how many requests it counts, if not as one. */
  cost?: number;
  /** What the `Content-Type` of a response contains; `json` unless set. */
  accepts?: string;
}

export function requestOf(
  { baseUrl, apiKey, headers }: Client,
  operation: OperationName,
  values: readonly unknown[],
  options: RequestOptions = {},
  place?: { cursor: string },
): Request {
  const [method, template] = operation.split(' /') as [string, string];
  let ids = 0;
  const filled = template.replace(/\{\w+\}/g, () => encodeURIComponent(values[ids++] as number));
  let body = values[ids] as Record<string, string> | undefined;
  const url = new URL(baseUrl + filled);
  if (method === 'GET') {
    // Several values are separated by commas. Without any value the list would be that of all resources: the service rejects an empty one.
    url.search = `${new URLSearchParams(defined({ ...body, ...place }))}`;
    body = undefined;
  }
  return {
    operation,
    url: url.href,
    init: {
      method,
      headers: joined(
        {
          ...ownHeaders,
          'X-API-Key': apiKey,
          'Content-Type': body && 'application/json',
          'If-Match': options.ifMatch,
          'If-None-Match': options.ifNoneMatch,
        },
        headers,
        options.headers,
      ),
      // A redirect could lead the API key to another server.
      redirect: 'manual',
      body: JSON.stringify(body),
    },
    options: { accepts: method === 'DELETE' ? '' : 'json', ...options },
  };
}

/** Joins headers. A later one replaces an earlier one also if their names differ in case: `fetch` would send the values of both. */
function joined(...all: (Record<string, string | undefined> | undefined)[]): Record<string, string> {
  const byName = new Map<string, [string, string]>();
  for (const headers of all)
    for (const entry of Object.entries(defined(headers))) byName.set(entry[0].toLowerCase(), entry);
  return Object.fromEntries(byName.values());
}
