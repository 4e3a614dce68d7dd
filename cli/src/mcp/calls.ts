import { randomUUID } from 'node:crypto';
import type { Client } from '@petstore/client';
import { pathOf, type RawResponse, send, stream } from '@petstore/client/raw';
import { type Contract, findOperation, mediaTypeOf, type Operation, type Target } from './contract.ts';

/** The items of a list, unless the agent chooses another `limit`. */
const PAGE = 20;
/** The characters of a result: about 6,000 tokens. */
const MAX_CHARACTERS = 20_000;
/** The characters of the items of a list that is too long: its cursor can have 4,096 more. */
const MAX_ITEMS = 15_000;
/** A stream is read until it has this many events, or for so long, in milliseconds. */
const STREAM = { events: 20, time: 2000 };

export interface Read {
  path: string;
  cursor?: string;
}

/** Reads what an operation returns, at most `MAX_CHARACTERS` of it. */
export async function read(
  contract: Contract,
  client: Client,
  { path, cursor }: Read,
  signal: AbortSignal,
): Promise<string> {
  const target = findOperation(contract, client, 'GET', path);
  const { operation, url } = target;
  if (cursor !== undefined) url.searchParams.set('cursor', cursor);
  if (mediaTypeOf(operation) === 'text/event-stream') return readStream(client, target, signal);
  const isPaged = operation.parameters.some(({ name }) => name === 'limit');
  if (isPaged && !url.searchParams.has('limit')) url.searchParams.set('limit', String(PAGE));
  const response = await get(client, target, signal);
  const data = dataOf(response);
  if (!Array.isArray(data)) return cut(withEtag({ data }, response));
  const whole = list(data, response);
  if (whole.length <= MAX_CHARACTERS || data.length < 2 || !isPaged) return cut(whole);
  // The service makes the cursor that continues after the items that fit.
  url.searchParams.set('limit', String(fitting(data)));
  const shorter = await get(client, target, signal);
  return cut(list(dataOf(shorter) as unknown[], shorter));
}

function get(client: Client, { operation, url }: Target, signal: AbortSignal): Promise<RawResponse> {
  const request = { method: 'GET', path: pathOf(client, url) + url.search };
  return send(client, request, { signal, accepts: mediaTypeOf(operation) });
}

/** How many items fit, but at least one. */
function fitting(items: readonly unknown[]): number {
  let left = MAX_ITEMS;
  const end = items.findIndex(item => {
    left -= JSON.stringify(item).length + 1;
    return left < 0;
  });
  return Math.max(1, end);
}

function list(items: readonly unknown[], { nextCursor }: Pick<RawResponse, 'nextCursor'>): string {
  // An item that is cut must not take the cursor with it.
  return JSON.stringify({ nextCursor, items });
}

async function readStream(client: Client, { url }: Target, signal: AbortSignal): Promise<string> {
  const end = new AbortController();
  const items: unknown[] = [];
  let nextCursor: string | undefined;
  let left = MAX_ITEMS;
  let timer: NodeJS.Timeout | undefined;
  try {
    const both = AbortSignal.any([signal, end.signal]);
    for await (const { id, data } of stream(client, pathOf(client, url) + url.search, { signal: both })) {
      timer ??= setTimeout(() => end.abort(), STREAM.time);
      left -= data?.length ?? 0;
      // The next call reads the events that do not fit.
      if (left < 0 && items.length > 0) break;
      nextCursor = id;
      if (data !== undefined && items.push(JSON.parse(data)) >= STREAM.events) break;
    }
  } catch (error) {
    if (!end.signal.aborted) throw error;
  } finally {
    clearTimeout(timer);
  }
  return cut(list(items, { nextCursor }));
}

export interface Write {
  method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  body?: object;
  ifMatch?: string;
  idempotencyKey?: string;
}

/** It is not known whether a write was executed. */
class UnknownOutcome extends Error {}

/** Executes a write once, and states what it has changed. */
export async function write(
  contract: Contract,
  client: Client,
  { method, path, body, ifMatch, idempotencyKey = randomUUID() }: Write,
  signal: AbortSignal,
): Promise<string> {
  const { operation, url } = findOperation(contract, client, method, path);
  const place = pathOf(client, url);
  const isPost = method === 'POST';
  const sender = noteDoubt(client);
  const startedAt = new Date().toISOString();
  try {
    const response = await send(
      sender.client,
      { method, path: place + url.search, body },
      { signal, ifMatch, accepts: mediaTypeOf(operation), ...(isPost && { idempotencyKey }) },
    );
    const created = response.headers.get('Location');
    const isReplay = response.headers.get('Idempotency-Replayed') === 'true';
    const change = changeOf(operation, created ?? place, body);
    // The agent does not see what the command notes about a test key.
    const isTest = response.headers.has('X-Test');
    const done = isTest ? `Only tried out, because the API key is for tests: ${change}` : change;
    const changed = isReplay ? `Executed before with this key: ${change}` : done;
    return cut(withEtag({ changed, data: dataOf(response) }, response));
  } catch (error) {
    if (!isPost || !sender.isInDoubt()) throw error;
    throw new UnknownOutcome(
      `${(error as Error).message}. It is not known whether the request was executed. This call began at ${startedAt}. Within 23 hours of the first call, send it again with "idempotencyKey": "${idempotencyKey}": it is executed once. Later, read first whether it was executed`,
      { cause: error },
    );
  }
}

/** `Change a pet: /pets/4 (status)` */
function changeOf({ summary }: Operation, resource: string, body: object | undefined): string {
  const fields = Object.keys(body ?? {}).join(', ');
  return `${summary}: ${resource}${fields && ` (${fields})`}`;
}

/** Returns a client that notes whether the service may have executed its request, in one of the attempts. */
function noteDoubt(client: Client) {
  let isInDoubt = false;
  const noted: Client['fetch'] = async (...request) => {
    const before = isInDoubt;
    isInDoubt = true;
    const response = await (client.fetch ?? fetch)(...request);
    if (response.status >= 400 && response.status < 500) isInDoubt = before;
    return response;
  };
  return { client: { ...client, fetch: noted }, isInDoubt: () => isInDoubt };
}

function dataOf({ headers, text }: RawResponse): unknown {
  if (text === '') return undefined;
  return headers.get('Content-Type')?.includes('json') ? JSON.parse(text) : text;
}

function withEtag(value: object, { headers }: RawResponse): string {
  const etag = headers.get('ETag') ?? undefined;
  return JSON.stringify({ ...value, etag });
}

function cut(text: string): string {
  if (text.length <= MAX_CHARACTERS) return text;
  const rest = text.length - MAX_CHARACTERS;
  return `${text.slice(0, MAX_CHARACTERS)}\n[${rest} more characters were left out]`;
}
