import { Client, type ClientConfig } from 'pg';
import { SECOND } from '../kit/clock.ts';

/** How long after a broken connection another is made, in milliseconds. */
const PAUSE = SECOND;

/** How often a database behind a pooler is looked at, in milliseconds. */
const POLL_INTERVAL = 100;

/** Calls back when there may be something new in the database, until it is closed. */
export interface Listener {
  close(): Promise<void>;
}

/** For a database that sends no notifications, because a pooler is in between. */
export class Polling implements Listener {
  readonly #timer: NodeJS.Timeout;

  constructor(look: () => void) {
    this.#timer = setInterval(look, POLL_INTERVAL);
    this.#timer.unref();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
  }
}

/** Receives the notifications on a channel, on a connection of its own. Those sent while that is broken are missed. */
export class Notifications implements Listener {
  readonly #config: ClientConfig;
  readonly #channel: string;
  readonly #heard: () => void;
  #client: Client | undefined;
  #retry: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(config: ClientConfig, channel: string, heard: () => void) {
    this.#config = config;
    this.#channel = channel;
    this.#heard = heard;
    this.#connect();
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#retry);
    await this.#client?.end().catch(() => {});
  }

  #connect(): void {
    const client = new Client(this.#config);
    this.#client = client;
    client.on('notification', this.#heard);
    client.on('error', () => {});
    client.once('end', () => this.#reconnectLater());
    client
      .connect()
      .then(() => client.query(`LISTEN ${this.#channel}`))
      // Whatever was told before this connection stood.
      .then(this.#heard)
      .catch(() => client.end().catch(() => {}));
  }

  #reconnectLater(): void {
    if (this.#closed) return;
    this.#retry = setTimeout(() => this.#connect(), PAUSE);
    this.#retry.unref();
  }
}
