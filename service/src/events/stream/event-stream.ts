import { ApiError } from '../../contract/errors.ts';
import type { Queries } from '../../db/database.ts';
import type { MessageSink } from '../../routes/message-sink.ts';
import { type EventRow, eventJson } from '../event-log/event.ts';
import { type EventFilter, matches } from '../event-log/event-filter.ts';
import * as eventLog from '../event-log/event-log.ts';
import type { EventTail } from '../event-log/event-tail.ts';

/** Events read at once by a stream that is behind. */
const PAGE = 100;

/** The bytes of a new event, made once for all streams that send it. */
const messages = new WeakMap<EventRow, Uint8Array>();

function messageOf(event: EventRow): Uint8Array {
  let message = messages.get(event);
  if (!message) {
    message = Buffer.from(messageText(event));
    messages.set(event, message);
  }
  return message;
}

function messageText(event: EventRow): string {
  return `id: ${event.id}\nevent: ${event.type}\ndata: ${eventJson(event)}\n\n`;
}

/**
 * Sends the events after a position, and then all that come. It is in step with the tail, or behind and reads the log by
 * itself; while the reader takes nothing, nothing is read and nothing is kept for it.
 */
export class EventStream {
  readonly #db: Queries;
  readonly #tail: EventTail;
  readonly #filter: EventFilter;
  readonly #sink: MessageSink;
  #position: number;
  #state: 'behind' | 'reading' | 'in step' | 'blocked' | 'ended' = 'behind';

  constructor(db: Queries, tail: EventTail, filter: EventFilter, position: number, sink: MessageSink) {
    this.#db = db;
    this.#tail = tail;
    this.#filter = filter;
    this.#position = position;
    this.#sink = sink;
    // A reader that breaks off before its first event goes on from here, and one whose filter seldom fits from further on.
    sink.send([Buffer.from(this.#place())]);
    sink.onBeat(() => Buffer.from(`:\n${this.#place()}`));
    const unfollow = tail.follow((events, position) => this.#onTail(events, position));
    sink.onClose(() => {
      this.#state = 'ended';
      unfollow();
    });
    sink.onDrain(() => {
      if (this.#state !== 'blocked') return;
      this.#state = 'behind';
      this.#catchUp();
    });
    this.#catchUp();
  }

  /** Tells the reader how far it has come, by an ID without an event, which none hears of. */
  #place(): string {
    return `id: ${this.#position}\n\n`;
  }

  #onTail(events: readonly EventRow[], position: number): void {
    if (this.#state === 'in step') {
      const news = events.filter(event => event.id > this.#position && matches(this.#filter, event));
      this.#position = Math.max(this.#position, position);
      this.#send(news.map(messageOf));
    } else if (this.#state === 'behind') {
      this.#catchUp();
    }
  }

  #catchUp(): void {
    this.#state = 'reading';
    this.#readOn().catch(error => {
      if (this.#state === 'ended') return;
      this.#sink.end(
        error instanceof ApiError ? error.message : 'The log cannot be read now; connect again to go on',
      );
    });
  }

  /** Reads until the stream is where the tail is, or its reader is blocked. */
  async #readOn(): Promise<void> {
    while (this.#state === 'reading') {
      const tail = this.#tail.position;
      // The tail has not looked yet, and will tell when it has.
      if (tail === undefined) this.#state = 'behind';
      else if (this.#position >= tail) this.#state = 'in step';
      else {
        const page = await this.#tail.catchUp(() => this.#readPage());
        if (!page || this.#state !== 'reading') return;
        this.#position = page.position;
        // Only this stream reads them now, so that their bytes are not worth keeping.
        if (page.events.length > 0) this.#send([Buffer.from(page.events.map(messageText).join(''))]);
      }
    }
  }

  /** Reads nothing when the client has gone while the stream waited for its turn. */
  async #readPage(): Promise<eventLog.EventPage | undefined> {
    if (this.#state !== 'reading') return undefined;
    return eventLog.read(this.#db, this.#filter, { after: this.#position, limit: PAGE });
  }

  #send(messages: readonly Uint8Array[]): void {
    if (messages.length > 0 && !this.#sink.send(messages)) this.#state = 'blocked';
  }
}
