/** The topic of new events, which have their numbers. Notices of other processes can be late or missing, so listeners must also poll. */
export const EVENTS = 'events';

/** The topic of a database that was returned to an earlier state: what was read from it before may be lost. */
export const RESTORED = 'restored';

/** The listeners of transactions, by topic. */
export class Notices {
  readonly #listeners = new Map<string, (() => void)[]>();

  listen(topic: string, listener: () => void): void {
    this.#listeners.set(topic, [...(this.#listeners.get(topic) ?? []), listener]);
  }

  send(topics: Iterable<string>): void {
    for (const topic of topics) for (const listener of this.#listeners.get(topic) ?? []) listener();
  }
}
