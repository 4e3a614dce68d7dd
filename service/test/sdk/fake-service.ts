import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ObservedOptions, Wait } from '../../../sdk/src/index.ts';
import { ClientTime } from '../support/client-time.ts';
import { importClient } from '../support/packed-client.ts';
import { TestClock } from '../support/test-clock.ts';

const { PetStore } = await importClient();

/** A request, and when the client sent it. */
export interface Sent {
  at: number;
  search: string;
  headers: Record<string, string>;
  signal: AbortSignal;
}

type Respond = (request: Sent) => Response | Promise<Response>;

/**
 * A client in the time of the test. Its service is a function that responds to each request, or several functions: each responds to
 * one request, and the last one to all further requests.
 */
export function clientOf(
  respond: Respond | readonly Respond[],
  { seed, ...options }: Partial<ObservedOptions> & { seed?: number } = {},
) {
  const time = new ClientTime(new TestClock(), seed);
  const sent: Sent[] = [];
  const waits: Wait[] = [];
  const inTurn = [respond].flat();
  const store = new PetStore({
    baseUrl: 'http://petstore.example',
    clock: time,
    onWait: wait => waits.push(wait),
    fetch: async (url, { headers, signal }) => {
      const { search } = new URL(url);
      const request = { at: time.now(), search, headers: headers as Record<string, string>, signal: signal! };
      sent.push(request);
      return inTurn[Math.min(sent.length, inTurn.length) - 1]!(request);
    },
    ...options,
  });
  return { store, time, sent, waits, run: <T>(work: Promise<T>) => time.run(work, [store]) };
}

/** Returns a function that responds with a body of JSON. */
export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}) =>
  () =>
    new Response(JSON.stringify(body), {
      status,
      headers: { 'content-type': 'application/json', ...headers },
    });

/** An empty list, when this many requests remain in the minute. */
export const listWith = (remaining: number, seconds = 50) =>
  json(200, [], { ratelimit: `"minute";r=${remaining};t=${seconds}` });

export const rejection = (headers: Record<string, string>, code = 'rate_limit_exceeded') =>
  json(429, { code, message: 'Too many', status: 429 }, headers);

/** Returns a function that responds with a stream of events. */
export const stream =
  (body: string | ReadableStream, headers: Record<string, string> = {}) =>
  () =>
    new Response(body, { headers: { 'content-type': 'text/event-stream', ...headers } });

export const broken = () => {
  throw new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') });
};

/** The times between requests. */
export const gaps = (sent: readonly Sent[]): number[] => sent.slice(1).map(({ at }, i) => at - sent[i]!.at);

/** Waits until the client has done everything that needs neither a response nor a timer. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await nextTurn();
}
