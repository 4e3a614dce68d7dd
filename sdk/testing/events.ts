import { ApiError } from '../../service/src/contract/errors.ts';
import { tooManyStreams } from '../../service/src/http/gate/rate-limit-errors.ts';
import { formatDateTime } from '../../service/src/kit/dates.ts';
import type { Operations } from '../src/contract.ts';
import { eventTypes } from '../src/resources/lists.ts';
import { invalid, type Values } from './rules.ts';

/** How many events the log keeps. Earlier ones expire. */
const MOST = 10_000;
/** How many events a stream or a page of it reads at once. */
const SLICE = 100;
/** How often a stream sends its position, in milliseconds. */
const HEARTBEAT = 15_000;
/** How many streams a key can have. */
const MOST_STREAMS = 20;
const SECOND = 1000;

/** The scope that an event needs, by the kind of its resource. */
const scopes: Readonly<Record<string, string>> = {
  pet: 'pets:read',
  category: 'pets:read',
  order: 'orders:read',
  inventory: 'inventory:read',
  log: 'events:read',
};

/** The types of events about a key that the key itself may also read. */
const WARNINGS = ['key.quota_reached', 'key.expiring'];

/** The ID of the API key of the service. The first key is the administrator's. */
export const KEY_ID = 2;

interface LoggedEvent {
  id: string;
  type: string;
  subject: string;
  time: string;
  actor: string;
}

/** The log of events, and its readers. */
export class EventLog {
  #events: LoggedEvent[] = [];
  #latest = 0;
  #streams = 0;
  readonly #waiting = new Set<() => void>();

  append(type: string, subject: string, data: object, extensions: object): void {
    const event = {
      specversion: '1.0',
      id: String(++this.#latest),
      source: '/',
      type,
      subject,
      time: formatDateTime(Date.now()),
      datacontenttype: 'application/json',
      ...extensions,
      data,
    };
    this.#events.push(event as unknown as LoggedEvent);
    if (this.#events.length > MOST) this.#events.shift();
    for (const wake of [...this.#waiting]) wake();
  }

  /** Reads a page, and waits for an event if the query says so. Returns the page, and the cursor of the next one. */
  async read(
    query: Operations['GET /events']['query'],
    held: readonly string[],
    signal: AbortSignal,
  ): Promise<{ items: LoggedEvent[]; next?: string; total: number }> {
    const { type, subject, actor, cursor, limit = 20, wait = 0, from, to, count, ...others } = query;
    // The compiler reports a new parameter of the contract.
    others satisfies Record<string, never>;
    const matches = filterOf({ type, subject, actor }, held);
    const after = this.#positionOf(cursor);
    if (count && subject !== undefined && actor !== undefined)
      throw invalid('Query parameter `count` cannot be combined with `subject` and `actor` together');
    const inTime = ({ time }: LoggedEvent) =>
      (from === undefined || time >= from) && (to === undefined || time < to);
    const all = () => this.#events.filter(event => matches(event) && inTime(event));
    const read = () => all().filter(({ id }) => Number(id) > after);
    const deadline = Date.now() + wait * SECOND;
    while (read().length === 0 && Date.now() < deadline) {
      await this.#news(deadline - Date.now(), signal);
      signal.throwIfAborted();
    }
    const [items, rest] = [read().slice(0, limit), read().slice(limit)];
    const isLast = to !== undefined && Date.parse(to) + 60 * SECOND <= Date.now() && items.length < limit;
    const position = rest.length > 0 || items.length === limit ? items.at(-1)!.id : String(this.#latest);
    return { items, total: all().length, ...(!isLast && { next: position }) };
  }

  /** Returns the body of a stream of server-sent events. It holds no events: it reads them when its reader reads. */
  stream(
    query: Operations['GET /events/stream']['query'],
    lastId: string | undefined,
    held: readonly string[],
    signal: AbortSignal,
  ): ReadableStream<Uint8Array> {
    const { type, subject, actor, cursor, ...others } = query;
    others satisfies Record<string, never>;
    const matches = filterOf({ type, subject, actor }, held);
    let position = this.#positionOf(lastId ?? cursor ?? 'latest');
    if (this.#streams >= MOST_STREAMS) throw tooManyStreams(MOST_STREAMS);
    this.#streams++;
    const close = new AbortController();
    const end = () => {
      if (close.signal.aborted) return;
      close.abort();
      this.#streams--;
    };
    signal.addEventListener('abort', end);
    const encoder = new TextEncoder();
    let isOpen = false;
    return new ReadableStream({
      pull: async controller => {
        const send = (text: string) => controller.enqueue(encoder.encode(text));
        if (!isOpen) {
          isOpen = true;
          return send(`retry: 2000\n\nid: ${position}\n\n`);
        }
        for (;;) {
          if (signal.aborted) return controller.error(signal.reason);
          const events = this.#events
            .filter(event => Number(event.id) > position && matches(event))
            .slice(0, SLICE);
          position = events.length === SLICE ? Number(events.at(-1)!.id) : this.#latest;
          if (events.length > 0)
            return send(
              events
                .map(event => `id: ${event.id}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
                .join(''),
            );
          const hasNews = await this.#news(HEARTBEAT, close.signal);
          if (close.signal.aborted && !signal.aborted) return;
          if (!hasNews && !signal.aborted) return send(`:\nid: ${position}\n\n`);
        }
      },
      cancel: end,
    });
  }

  /** Waits for an event. Returns whether one was appended within some milliseconds, before the signal was aborted. */
  async #news(milliseconds: number, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    return new Promise(resolve => {
      const end = (hasNews: boolean) => {
        clearTimeout(timer);
        this.#waiting.delete(wake);
        signal.removeEventListener('abort', stop);
        resolve(hasNews);
      };
      const wake = () => end(true);
      const stop = () => end(false);
      const timer = setTimeout(stop, milliseconds);
      this.#waiting.add(wake);
      signal.addEventListener('abort', stop);
    });
  }

  #positionOf(cursor = String(this.#oldest)): number {
    if (cursor === 'latest') return this.#latest;
    const position = Number(cursor);
    if (!Number.isSafeInteger(position) || !/^\d+$/.test(cursor))
      throw invalid('The cursor must be the number of an event, or `latest`');
    if (position > this.#latest)
      throw new ApiError(
        'log_restored',
        `Event ${position} is not part of the log, which ends with event ${this.#latest}`,
      );
    if (position < this.#oldest)
      throw new ApiError(
        'cursor_expired',
        `The events after cursor ${position} have expired; the oldest cursor is ${this.#oldest}`,
      );
    return position;
  }

  /** The cursor of the start of the log. */
  get #oldest(): number {
    return this.#latest - this.#events.length;
  }
}

/** Returns whether an event belongs to a query, and may be read with these scopes. Throws ApiError. */
function filterOf(
  { type, subject, actor }: Values,
  held: readonly string[],
): (event: LoggedEvent) => boolean {
  const mayRead = (name: string) =>
    held.includes('admin') ||
    held.includes(WARNINGS.includes(name) ? 'events:read' : (scopes[kindOf(name)] ?? 'admin'));
  const wanted: string[] | undefined = type?.flatMap((pattern: string) => {
    const matching = eventTypes.filter(
      name => name === pattern || (pattern.endsWith('.*') && name.startsWith(pattern.slice(0, -1))),
    );
    if (matching.length === 0) throw invalid(`There is no event type \`${pattern}\``);
    return matching;
  });
  if (
    subject !== undefined &&
    !/^(pets|categories|store\/orders|store\/inventory|keys|webhooks)\/[1-9]\d*$|^(access|service|events)$/.test(
      subject,
    )
  )
    throw invalid(`There is no subject \`${subject}\``);
  // The key of the service may read the warnings about itself.
  const ofSubject = eventTypes.filter(
    name =>
      subject !== `keys/${KEY_ID}` && subject?.replace('store/', '').startsWith(plurals[kindOf(name)] ?? '-'),
  );
  const unreadable = [...(wanted ?? []), ...ofSubject].find(name => !mayRead(name));
  if (unreadable !== undefined)
    throw new ApiError('insufficient_scope', `The API key may not read events \`${unreadable}\``);
  return event =>
    (wanted ? wanted.includes(event.type) : mayRead(event.type)) &&
    (subject === undefined || event.subject === subject) &&
    (actor === undefined || event.actor === actor);
}

const plurals: Readonly<Record<string, string>> = {
  pet: 'pets/',
  category: 'categories/',
  order: 'orders/',
  inventory: 'inventory/',
  key: 'keys/',
  webhook: 'webhooks/',
  access: 'access',
  service: 'service',
};

function kindOf(type: string): string {
  return type.split('.')[0]!;
}
