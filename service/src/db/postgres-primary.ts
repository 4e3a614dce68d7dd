import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { SECOND } from '../kit/clock.ts';
import { postgresServers } from '../kit/postgres-url.ts';
import { Sockets } from './postgres-sockets.ts';

/** How often each server is checked, in milliseconds. */
const INTERVAL = SECOND / 2;

/** How long a server may take to report its role, in milliseconds: longer than a busy machine delays it. */
const RESPONSE_TIMEOUT = 3 * SECOND;

/** How long to wait for the other servers when one accepts writes, in milliseconds: a former primary may do so as well. */
const OTHERS_TIMEOUT = SECOND / 4;

/** The timeline of a server that accepts writes. Each promotion starts a higher one (PostgreSQL, chapter 26.3.5). */
const TIMELINE = `SELECT CASE WHEN NOT pg_is_in_recovery() AND current_setting('transaction_read_only') = 'off'
  THEN ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::int END AS timeline`;

/**
 * The servers of a database, one of which is the primary. With several, each has a connection on which its role is checked, so that a
 * promotion is noticed although the former primary hangs. Of two that accept writes, the one with the higher timeline is the primary.
 */
export class Primary {
  readonly #servers: Server[];
  readonly #mustWrite: boolean;
  readonly #closing = new AbortController();
  #current: Server;
  /** The timeline of the current primary when it was last checked. */
  #timeline = 0;

  /** @param url of the database, with one server or several */
  constructor(url: string) {
    const { urls, mustWrite } = postgresServers(url);
    this.#servers = urls.map(url => new Server(url));
    this.#mustWrite = mustWrite;
    this.#current = this.#servers[0]!;
  }

  /** The URL of the database on the primary, for the driver. */
  get url(): string {
    return this.#current.url;
  }

  /** Finds the primary. Rejects with AggregateError when no server accepts writes and the URL requires it. */
  async find(): Promise<void> {
    if (!this.#mustWrite) return;
    const checks = this.#servers.map(server => server.check());
    const all = Promise.allSettled(checks);
    const some = Promise.any(checks).then(() => sleep(OTHERS_TIMEOUT, undefined, { ref: false }));
    await Promise.race([all, some.catch(() => all)]);
    if (this.#servers.every(({ timeline }) => timeline === undefined)) await Promise.any(checks);
    this.#choose();
  }

  /** Calls back whenever another server has become the primary, until it is closed. */
  watch(onChange: () => void): void {
    if (this.#servers.length === 1) this.#servers[0]!.cutOff();
    else for (const server of this.#servers) void this.#watch(server, onChange);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#servers.map(server => server.close()));
  }

  async #watch(server: Server, onChange: () => void): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await server.check().catch(() => {});
      if (!signal.aborted && this.#choose()) onChange();
      await sleep(INTERVAL, undefined, { ref: false, signal }).catch(() => {});
    }
  }

  /** Returns whether another server is the primary now. A timeline never counts that is lower than one before. */
  #choose(): boolean {
    const current = this.#current;
    const isWritable = current.timeline !== undefined;
    if (isWritable) this.#timeline = Math.max(this.#timeline, current.timeline!);
    for (const server of this.#servers) {
      const timeline = server.timeline ?? -1;
      const isLater = timeline > this.#timeline || (timeline === this.#timeline && !isWritable);
      if (isLater && server !== current) [this.#current, this.#timeline] = [server, timeline];
    }
    return this.#current !== current;
  }
}

/** Resolves with the URL of the database on the primary, for one connection. Rejects as `Primary.find` does. */
export async function primaryOf(url: string): Promise<string> {
  const primary = new Primary(url);
  try {
    await primary.find();
    return primary.url;
  } finally {
    await primary.close();
  }
}

class Server {
  readonly url: string;
  /** `undefined` while the server accepts no writes, or does not respond. */
  timeline: number | undefined;
  readonly #sockets = new Sockets();
  #client: Client | undefined;
  #checking: Promise<void> | undefined;

  constructor(url: string) {
    this.url = url;
  }

  /** Rejects when the server accepts no writes, with the reason. */
  check(): Promise<void> {
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  cutOff(): void {
    this.#client = undefined;
    this.#sockets.cutOff();
  }

  async close(): Promise<void> {
    this.cutOff();
    await Promise.all([this.#sockets.closed(), this.#checking?.catch(() => {})]);
  }

  async #check(): Promise<void> {
    try {
      this.#client ??= await this.#connect();
      const { rows } = await this.#client.query<{ timeline: number | null }>(TIMELINE);
      this.timeline = rows[0]!.timeline ?? undefined;
    } catch (error) {
      this.timeline = undefined;
      this.cutOff();
      throw new Error(`${new URL(this.url).host}: ${(error as Error).message}`, { cause: error });
    }
    if (this.timeline === undefined) throw new Error(`${new URL(this.url).host} accepts no writes`);
  }

  async #connect(): Promise<Client> {
    const client = new Client(this.#sockets.optionsOf(this.url, RESPONSE_TIMEOUT));
    // The next query reports it.
    client.on('error', () => {});
    await client.connect();
    return client;
  }
}
