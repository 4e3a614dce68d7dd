import { SECOND } from '../kit/clock.ts';

/** How long the metrics wait for a figure, in milliseconds: Prometheus gives up a scrape after ten seconds. */
const TIMEOUT = SECOND;

/**
 * A figure that is read from the store when the metrics are collected. Reads one at a time, and returns `undefined` when
 * the store does not return it within a second: a database that hangs must not hold up the other metrics.
 */
export class StoreFigure<T> {
  readonly #read: () => Promise<T>;
  #reading: Promise<T | undefined> | undefined;

  constructor(read: () => Promise<T>) {
    this.#read = read;
  }

  async current(): Promise<T | undefined> {
    // A store that fails shows in petstore_database_up and in the log; the figure is then missing.
    this.#reading ??= this.#read()
      .catch(() => undefined)
      .finally(() => {
        this.#reading = undefined;
      });
    const { promise: late, resolve } = Promise.withResolvers<undefined>();
    const timer = setTimeout(() => resolve(undefined), TIMEOUT);
    try {
      return await Promise.race([this.#reading, late]);
    } finally {
      clearTimeout(timer);
    }
  }
}
