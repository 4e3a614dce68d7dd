/** The topic of new events, which have their numbers. */
export const EVENTS = 'events';

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
