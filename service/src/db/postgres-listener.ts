import { Client, type ClientConfig } from 'pg';
import { SECOND } from '../kit/clock.ts';

/** How long to wait before reconnecting, in milliseconds. */
const RECONNECT_DELAY = SECOND;

/** How often a database behind a pooler is polled, in milliseconds. */
const POLL_INTERVAL = 100;

/** Calls back when the database may have new events, until it is closed. */
export interface Listener {
  close(): Promise<void>;
}

/** For a database behind a pooler, from which no notifications arrive. */
export class Polling implements Listener {
  readonly #timer: NodeJS.Timeout;

  constructor(onPoll: () => void) {
    this.#timer = setInterval(onPoll, POLL_INTERVAL);
    this.#timer.unref();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
  }
}

/** Receives the notifications of a channel on a connection of its own. Those sent while it is broken are lost. */
export class Notifications implements Listener {
  readonly #configure: () => ClientConfig;
  readonly #channel: string;
  readonly #onNotification: (payload?: string) => void;
  #client: Client | undefined;
  #closed = false;

  constructor(configure: () => ClientConfig, channel: string, onNotification: (payload?: string) => void) {
    this.#configure = configure;
    this.#channel = channel;
    this.#onNotification = onNotification;
    this.#connect();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#client?.end().catch(() => {});
  }

  #connect(): void {
    if (this.#closed) return;
    const client = new Client(this.#configure());
    this.#client = client;
    client.on('notification', ({ payload }) => this.#onNotification(payload));
    client.on('error', () => {});
    client.once('end', () => setTimeout(() => this.#connect(), RECONNECT_DELAY).unref());
    client
      .connect()
      .then(() => client.query(`LISTEN ${this.#channel}`))
      // Notifications sent before LISTEN were lost.
      .then(() => this.#onNotification())
      .catch(() => client.end().catch(() => {}));
  }
}
