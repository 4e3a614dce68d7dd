import type { Clock } from '../kit/clock.ts';
import type { Value } from './database.ts';
import {
  digestOfValues,
  GROUP,
  INSERT_SEAL,
  NO_SEAL,
  SELECT_LAST_SEAL,
  sealGroup,
  valuesOfSeal,
} from './event-seals.ts';
import type { Connection } from './sqlite-connection.ts';

/** Seals the events of a transaction before its commit, on the connection for writing. */
export class SqliteSeals {
  readonly #connection: Connection;
  readonly #clock: Clock;
  /** By number: an event whose number another one got later was undone. */
  #values: (readonly Value[])[] = [];
  #first = 0;

  constructor(connection: Connection, clock: Clock) {
    this.#connection = connection;
    this.#clock = clock;
  }

  /** Forgets the events of a transaction that was rolled back. */
  begin(): void {
    this.#values.length = 0;
  }

  add(id: number, values: readonly Value[]): void {
    if (this.#values.length === 0) this.#first = id;
    this.#values[id - this.#first] = values;
  }

  seal(): void {
    if (this.#values.length === 0) return;
    const { last_id: last, seal } = this.#connection.get<{ last_id: number; seal: string | null }>(
      SELECT_LAST_SEAL,
      [],
    )!;
    // The events after it were undone.
    this.#values.length = last - this.#first + 1;
    const digests = this.#values.map((values, i) => digestOfValues(this.#first + i, values));
    let previous = seal ?? NO_SEAL;
    for (let i = 0; i < digests.length; i += GROUP) {
      const sealed = sealGroup(previous, this.#first + i, digests.slice(i, i + GROUP), this.#clock.now());
      this.#connection.run(INSERT_SEAL, valuesOfSeal(sealed));
      previous = sealed.seal;
    }
    this.#values.length = 0;
  }
}
