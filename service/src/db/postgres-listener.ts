import { Client, type ClientConfig } from 'pg';
import { SECOND } from '../kit/clock.ts';

/** How long after a broken connection another is made, in milliseconds. */
const PAUSE = SECOND;

/** Hears what is told on a channel, on a connection of its own. What is told while that is broken is missed. */
export class Listener {
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
