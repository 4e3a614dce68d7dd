import { ApiError } from '../../contract/errors.ts';
import type { Queries, StoredEvent } from '../../db/database.ts';
import type { MessageSink } from '../../routes/message-sink.ts';
import type { FindReasonToEnd } from '../../routes/reply.ts';
import { eventJson } from '../event-log/event.ts';
import { type EventFilter, matches } from '../event-log/event-filter.ts';
import * as eventLog from '../event-log/event-log.ts';
import type { EventTail, TailListener } from '../event-log/event-tail.ts';
import { subjectOf } from '../event-log/event-types.ts';

/** The events that a stream reads at once while it is behind. */
const PAGE = 100;

/** The messages of new events, each made once for all streams that send it. */
const messages = new WeakMap<StoredEvent, Uint8Array>();

function messageOf(event: StoredEvent, source: string): Uint8Array {
  let message = messages.get(event);
  if (!message) {
    message = Buffer.from(messageText(event, source));
    messages.set(event, message);
  }
  return message;
}

function messageText(event: StoredEvent, source: string): string {
  return `id: ${event.id}\nevent: ${event.type}\ndata: ${eventJson(event, source)}\n\n`;
}

interface StreamedLog {
  db: Queries;
  tail: EventTail;
  /** The source of the events. */
  source: string;
}

/** The events that a stream sends, and the key that reads them. */
interface StreamRequest {
  filter: EventFilter;
  /** The events after this number are sent. */
  position: number;
  sink: MessageSink;
  keyId: number;
  findReasonToEnd: FindReasonToEnd;
}

/**
 * Sends the events after a position and all later ones. A stream in step with the tail gets its events from the tail; a
 * stream that is behind reads the log itself. While the client reads nothing, the stream reads and stores nothing for it.
 *
 * Sends no event that follows a change of its key in the log with the rights from before: it reads the key after each page of the
 * log, and reads the log when the tail has an event of its key.
 */
export class EventStream {
  readonly #db: Queries;
  readonly #tail: EventTail;
  readonly #source: string;
  readonly #filter: EventFilter;
  readonly #sink: MessageSink;
  /** The subject of the events of the key. */
  readonly #key: string;
  readonly #findReasonToEnd: FindReasonToEnd;
  #position: number;
  #state: 'behind' | 'reading' | 'in step' | 'blocked' | 'ended' = 'behind';
  /**
   * Whether the stream reads the log and its key even if it is in step: a restore may have removed the event at its position, or the
   * key may have other rights.
   */
  #mustRead = false;

  constructor(
    { db, tail, source }: StreamedLog,
    { filter, position, sink, keyId, findReasonToEnd }: StreamRequest,
  ) {
    this.#db = db;
    this.#tail = tail;
    this.#source = source;
    this.#key = subjectOf('key.updated', keyId);
    this.#findReasonToEnd = findReasonToEnd;
    this.#filter = filter;
    this.#position = position;
    this.#sink = sink;
    // A client that disconnects before its first event continues from here. Each heartbeat sends the current position, because
    // few events may match the filter.
    sink.send([Buffer.from(this.#positionText())]);
    sink.onBeat(() => Buffer.from(`:\n${this.#positionText()}`));
    const unfollow = tail.follow((...news) => this.#onTail(...news));
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

  /** Returns the current position as an ID without an event: browsers store the ID and dispatch no event. */
  #positionText(): string {
    return `id: ${this.#position}\n\n`;
  }

  #onTail(...[events, position, wasRestored]: Parameters<TailListener>): void {
    // The tail may start before the position of the stream if the log was restored in between.
    const isBefore = events.length === 0 && position < this.#position;
    if (wasRestored || isBefore || events.some(({ subject }) => subject === this.#key)) this.#mustRead = true;
    if (this.#state === 'in step' && !this.#mustRead) {
      const news = events.filter(event => event.id > this.#position && matches(this.#filter, event));
      this.#position = Math.max(this.#position, position);
      this.#send(news.map(event => messageOf(event, this.#source)));
    } else if (this.#state === 'in step' || this.#state === 'behind') {
      this.#catchUp();
    }
  }

  #catchUp(): void {
    this.#state = 'reading';
    this.#readToTail().catch(error => {
      if (this.#state === 'ended') return;
      this.#sink.end(
        error instanceof ApiError ? error.message : 'The log cannot be read now; connect again to continue',
      );
    });
  }

  /** Reads until the stream has caught up with the tail or its client is blocked. */
  async #readToTail(): Promise<void> {
    while (this.#state === 'reading') {
      const tail = this.#tail.position;
      // The tail has not read the log yet. It calls `#onTail` after its first read.
      if (tail === undefined) this.#state = 'behind';
      else if (this.#position >= tail && !this.#mustRead) this.#state = 'in step';
      else {
        this.#mustRead = false;
        const page = await this.#tail.catchUp(() => this.#readPage());
        if (!page || this.#state !== 'reading') return;
        this.#position = page.position;
        // Only this stream reads these events now, so there is no reason to cache their messages.
        const texts = page.events.map(event => messageText(event, this.#source));
        if (texts.length > 0) this.#send([Buffer.from(texts.join(''))]);
      }
    }
  }

  /** Reads nothing if the client disconnected while the stream waited in the queue. Ends the stream if its key has other rights. */
  async #readPage(): Promise<eventLog.EventPage | undefined> {
    if (this.#state !== 'reading') return undefined;
    const page = await eventLog.read(this.#db, this.#filter, { after: this.#position, limit: PAGE });
    // Read after the page, the key has all changes that the log has before the events of the page.
    const reason = await this.#findReasonToEnd();
    if (reason === undefined) return page;
    this.#sink.end(reason);
    return undefined;
  }

  #send(messages: readonly Uint8Array[]): void {
    if (messages.length > 0 && !this.#sink.send(messages)) this.#state = 'blocked';
  }
}
