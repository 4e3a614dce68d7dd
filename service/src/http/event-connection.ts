import type { ServerResponse } from 'node:http';
import { SECOND } from '../kit/clock.ts';
import type { MessageSink } from '../routes/message-sink.ts';

/** The `retry` field of a stream: how long a client waits before it reconnects, in milliseconds. */
const RETRY = 2 * SECOND;

/** How long the end of a stream may take to reach its client, in milliseconds. */
const END_TIMEOUT = SECOND;

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

  /** Sends a heartbeat every `interval` milliseconds. Drops a client that reads nothing for as long. */
  constructor(response: ServerResponse, interval: number, onDrop: (reason: string) => void) {
    this.#response = response;
    this.#interval = interval;
    this.#onDrop = onDrop;
    response.on('drain', () => {
      this.#blockedSince = undefined;
    });
    // An error of the connection ends the stream; the event `close` follows.
    response.on('error', () => {});
    this.#heartbeat = setInterval(() => this.#beat(), interval);
    response.once('close', () => {
      clearInterval(this.#heartbeat);
      clearTimeout(this.#ending);
    });
    this.#write([Buffer.from(`retry: ${RETRY}\n\n`)]);
  }

  /** The bytes of the body that were sent. */
  get bytesSent(): number {
    return this.#bytesSent;
  }

  send(messages: readonly Uint8Array[]): boolean {
    return this.#write(messages);
  }

  end(reason: string): void {
    if (this.#response.writableEnded || this.#response.destroyed) return;
    const comment = Buffer.from(`: ${reason}\n\n`);
    this.#bytesSent += comment.length;
    this.#response.end(comment);
    // A client that reads nothing would keep the connection open.
    this.#ending = setTimeout(() => this.#response.destroy(), END_TIMEOUT);
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
    // Write once: corked writes can return false without a later `drain`.
    const bytes = messages.length === 1 ? messages[0]! : Buffer.concat(messages);
    this.#bytesSent += bytes.length;
    const hasRoom = this.#response.write(bytes);
    if (!hasRoom) this.#blockedSince ??= performance.now();
    return hasRoom;
  }
}
