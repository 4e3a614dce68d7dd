import type { ServerResponse } from 'node:http';
import { SECOND } from '../kit/clock.ts';
import type { MessageSink } from '../routes/message-sink.ts';

/** How long a client waits before it connects again, in milliseconds. */
const RETRY = 2 * SECOND;

/** How long the end of a stream may take to reach its reader, in milliseconds. */
const LAST_WORDS = SECOND;

/** One client that reads a stream of server-sent events (HTML Living Standard, §9.2). */
export class EventConnection implements MessageSink {
  readonly #response: ServerResponse;
  readonly #interval: number;
  readonly #heartbeat: NodeJS.Timeout;
  readonly #onDrop: (reason: string) => void;
  #beatMessage: () => Uint8Array = () => Buffer.from(':\n\n');
  #blockedSince: number | undefined;
  #ending: NodeJS.Timeout | undefined;
  #bytesSent = 0;

  /** Shows each `interval` that it is alive, and drops a reader that does not take for as long what it was sent. */
  constructor(response: ServerResponse, interval: number, onDrop: (reason: string) => void) {
    this.#response = response;
    this.#interval = interval;
    this.#onDrop = onDrop;
    response.on('drain', () => {
      this.#blockedSince = undefined;
    });
    // A connection that breaks ends the stream, and `close` tells of it.
    response.on('error', () => {});
    this.#heartbeat = setInterval(() => this.#beat(), interval);
    response.once('close', () => {
      clearInterval(this.#heartbeat);
      clearTimeout(this.#ending);
    });
    this.#write([Buffer.from(`retry: ${RETRY}\n\n`)]);
  }

  /** What was sent of the body. */
  get bytesSent(): number {
    return this.#bytesSent;
  }

  send(messages: readonly Uint8Array[]): boolean {
    return this.#write(messages);
  }

  end(reason: string): void {
    if (this.#response.writableEnded || this.#response.destroyed) return;
    const words = Buffer.from(`: ${reason}\n\n`);
    this.#bytesSent += words.length;
    this.#response.end(words);
    // A reader that takes nothing would never see the end.
    this.#ending = setTimeout(() => this.#response.destroy(), LAST_WORDS);
  }

  onBeat(message: () => Uint8Array): void {
    this.#beatMessage = message;
  }

  onDrain(listener: () => void): void {
    this.#response.on('drain', listener);
  }

  onClose(listener: () => void): void {
    this.#response.once('close', listener);
  }

  #beat(): void {
    if (this.#blockedSince === undefined) this.#write([this.#beatMessage()]);
    else if (performance.now() - this.#blockedSince >= this.#interval && !this.#response.writableEnded) {
      const reason = `Dropped: the client read nothing for ${this.#interval / SECOND} seconds`;
      this.#onDrop(reason);
      this.end(reason);
    }
  }

  #write(messages: readonly Uint8Array[]): boolean {
    if (this.#response.writableEnded || this.#response.destroyed) return false;
    // In one piece: several, corked, may be told as not taken without a `drain` to follow when the system takes them at once.
    const bytes = messages.length === 1 ? messages[0]! : Buffer.concat(messages);
    this.#bytesSent += bytes.length;
    const taken = this.#response.write(bytes);
    if (!taken) this.#blockedSince ??= performance.now();
    return taken;
  }
}
