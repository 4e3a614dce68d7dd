import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Value } from '../../src/db/database.ts';

/** An event log in memory that counts the queries. */
export class CountingLog {
  readonly engine = 'sqlite';
  /** Number of queries so far. */
  reads = 0;
  #latest = 0;
  readonly #listeners: (() => void)[] = [];

  /** Appends events and notifies the listeners of the log once. */
  append(count = 1): void {
    this.#latest += count;
    for (const listener of this.#listeners) listener();
  }

  async get<Row>(): Promise<Row | undefined> {
    this.reads++;
    return this.#ends as Row;
  }

  async all<Row>(_sql: string, values: readonly Value[] = []): Promise<Row[]> {
    this.reads++;
    const [after, limit] = [Number(values[0]), Number(values.at(-1))];
    const rows: object[] = [];
    for (let id = after + 1; id <= this.#latest && rows.length < limit; id++) {
      const origin = { actor: null, request_id: null, traceparent: null };
      const event = { id, type: 'pet.created', subject: 'pets/1', time: 0, data: '{}', ...origin };
      rows.push({ ...this.#ends, ...event });
    }
    return (rows.length > 0 ? rows : [{ ...this.#ends, id: null }]) as Row[];
  }

  async run(): Promise<number> {
    throw new Error('A reader of the log must not write to it');
  }

  async numberEvents(): Promise<void> {}

  onNotice(_topic: string, listener: () => void): void {
    this.#listeners.push(listener);
  }

  get #ends(): { oldest: number; latest: number } {
    return { oldest: 1, latest: this.#latest };
  }
}

/** Waits until every listener has received what was appended: one turn of the event loop serves 50 listeners. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await nextTurn();
}
