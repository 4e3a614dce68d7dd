import { SECOND } from '../kit/clock.ts';

/** How long the metrics wait for a figure, in milliseconds. Prometheus aborts a scrape after ten seconds. */
const TIMEOUT = SECOND;

/**
 * A figure that is read from the store when the metrics are collected, by one read at a time. It is `undefined` if the store
 * does not return it within a second: a database that hangs must not block the other metrics.
 */
export class StoreFigure<T> {
  readonly #read: () => Promise<T>;
  #reading: Promise<T | undefined> | undefined;

  constructor(read: () => Promise<T>) {
    this.#read = read;
  }

  async current(): Promise<T | undefined> {
    // The figure is missing while the store fails, which petstore_database_up and the log show.
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
