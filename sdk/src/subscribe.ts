import type { Client } from './client.ts';
import { type Clock, onAbort, sleep } from './clock.ts';
import type { Event } from './contract.ts';
import { exchange } from './exchange.ts';
import { type CallOptions, requestOf } from './request.ts';

type ResourceOf<Type extends string> = Type extends `${infer Resource}.${string}` ? Resource : never;

/** A type of events, such as `order.placed`, or all types of a resource, such as `order.*`. */
export type EventFilter = Event['type'] | `${ResourceOf<Event['type']>}.*`;

export interface Subscription extends Pick<CallOptions, 'headers' | 'maxWait' | 'signal'> {
  /** The `id` of the last event that was processed, `0` for the first event, if the log still has it, or `latest`, the default. */
  from?: string | number | undefined;
  /** All types unless set. */
  types?: readonly EventFilter[] | undefined;
  /** A resource, such as `pets/1` or `store/orders/17`; all resources unless set. */
  subject?: string | undefined;
  /** Who made the changes: an API key, such as `keys/2`, or `system`; everyone unless set. */
  actor?: string | undefined;
  /**
   * Is called with the position in the log when a stream is open, and every 15 seconds, also if no event matches. All matching
   * events before it have been processed. Store it to resume, in addition to the ID of each event.
   */
  onPosition?: ((cursor: string) => void) | undefined;
}

/** How long a stream may be silent before it counts as broken, in milliseconds: three heartbeats of the service. */
const SILENCE = 45_000;
/** The longest pause before a stream is opened again, in milliseconds. */
const MAX_PAUSE = 30_000;

/**
 * Yields each event after `from`, once and in order, until the loop ends. It opens the stream again whenever it ends, for as
 * long as the service is not available. Throws `GoneError` if the events after the last one have expired, or if it was lost because
 * the service was restored from a backup (`code` is `log_restored`), other errors that a retry does not solve, and the reason of
 * the signal when it is aborted.
 */
export async function* subscribe(
  client: Client,
  { from = 'latest', types, subject, actor, signal, onPosition, ...options }: Subscription = {},
): AsyncGenerator<Event, never> {
  const { clock } = client;
  let cursor = String(from);
  for (let failures = 0; ; failures++) {
    const query = { cursor, type: types, subject, actor };
    const settings = { ...options, signal, maxRetries: Number.POSITIVE_INFINITY, accepts: 'event-stream' };
    const request = requestOf(client, 'GET /events/stream', [query], settings);
    const stream = await exchange(client, request, async ({ body }) => body).catch(error => {
      // The service may still count the stream that broke.
      if (failures === 0 || error.code !== 'too_many_streams') throw error;
    });
    let messages = 0;
    for await (const { id, data } of stream ? messagesIn(stream, clock, signal) : []) {
      // A stream begins with a position. Only what follows shows that it works.
      if (messages++ > 0 || data !== undefined) failures = 0;
      cursor = id;
      if (data === undefined) onPosition?.(id);
      else yield JSON.parse(data);
    }
    await sleep(clock, clock.random() * Math.min(MAX_PAUSE, 1000 * 2 ** failures), signal);
  }
}

/** A message of a stream. */
export interface Message {
  id: string;
  data: string | undefined;
}

/**
 * Yields the messages of a stream (HTML Living Standard, §9.2) until it ends, breaks or is silent. A message without
 * `data` reports the position in the log. Blocks without an `id` are left out, such as comments, and the last block unless it is complete.
 */
export async function* messagesIn(
  stream: ReadableStream<Uint8Array>,
  clock: Clock,
  signal: AbortSignal | undefined,
): AsyncGenerator<Message> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  const end = () => void reader.cancel().catch(() => {});
  const ignoreSignal = onAbort(signal, end);
  try {
    for (let rest = ''; ; ) {
      const cancelTimer = clock.after(SILENCE, end);
      // A connection that breaks ends the stream.
      const { value, done } = await reader.read().catch(() => ({ value: undefined, done: true }));
      cancelTimer();
      if (signal?.aborted) throw signal.reason;
      if (done) return;
      const blocks = (rest + decoder.decode(value, { stream: true })).split('\n\n');
      rest = blocks.pop()!;
      for (const block of blocks) {
        const { id, data } = fieldsOf(block);
        if (id !== undefined) yield { id, data };
      }
    }
  } finally {
    ignoreSignal();
    end();
  }
}

function fieldsOf(block: string): Record<string, string | undefined> {
  const lines = block.split('\n');
  return Object.fromEntries(lines.map(line => line.split(/: ?(.*)/s, 2) as [string, string]));
}
