import { Client, type ClientConfig } from 'pg';
import type { QueryPlan, Value } from './database.ts';
import { sendTogether } from './postgres-batching.ts';
import { awaitConnection, awaitResponse } from './postgres-errors.ts';
import type { Sessions } from './postgres-sessions.ts';
import { statementOf } from './postgres-statements.ts';

interface Reader {
  client: Promise<Client>;
  inFlight: number;
}

/**
 * The connections for single reads. Each is shared: queries are sent immediately, and their results arrive in order, so
 * that a few connections serve any number of requests. The next read replaces a broken connection.
 */
export class Readers {
  readonly #configure: () => ClientConfig;
  readonly #sessions: Sessions;
  readonly #readers: (Reader | undefined)[];

  constructor(configure: () => ClientConfig, sessions: Sessions, count: number) {
    this.#sessions = sessions;
    this.#configure = () => ({ ...configure(), ...sessions.readOptions, pipeline: true }) as ClientConfig;
    this.#readers = Array.from({ length: count }, () => undefined);
  }

  get open(): number {
    return this.#readers.filter(reader => reader !== undefined).length;
  }

  get idle(): number {
    return this.#readers.filter(reader => reader?.inFlight === 0).length;
  }

  async query<Row>(sql: string, values: readonly Value[], plan?: QueryPlan): Promise<Row[]> {
    const reader = this.#leastBusy();
    reader.inFlight++;
    try {
      const client = await awaitConnection(reader.client);
      // With all other queries of this event-loop turn.
      sendTogether(client, setImmediate);
      return (await awaitResponse(this.#sessions.read(client, statementOf(sql, values, plan), plan))).rows;
    } finally {
      reader.inFlight--;
    }
  }

  async close(): Promise<void> {
    const open = this.#readers.filter(reader => reader !== undefined);
    this.#readers.fill(undefined);
    await Promise.all(open.map(({ client }) => client.then(opened => opened.end()).catch(() => {})));
  }

  #leastBusy(): Reader {
    let best = 0;
    for (const [place, reader] of this.#readers.entries()) {
      if ((reader?.inFlight ?? 0) < (this.#readers[best]?.inFlight ?? 0)) best = place;
    }
    return this.#readers[best] ?? this.#open(best);
  }

  #open(place: number): Reader {
    const client = new Client(this.#configure());
    const reader: Reader = { client: client.connect().then(() => client), inFlight: 0 };
    // The queries in flight reject by themselves. A connection that the server ends has an error as well.
    const giveUp = () => {
      if (this.#readers[place] === reader) this.#readers[place] = undefined;
      void client.end().catch(() => {});
    };
    client.on('error', giveUp);
    reader.client.catch(giveUp);
    this.#readers[place] = reader;
    return reader;
  }
}
