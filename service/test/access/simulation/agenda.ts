/**
 * The events of a simulation, each at a millisecond from `start` up to, but not including, `end`. Later ones are
 * dropped.
 */
export class Agenda {
  readonly #start: number;
  /** The index is the number of milliseconds after the start. */
  readonly #events: (Event[] | undefined)[];
  #now: number;

  constructor(start: number, end: number) {
    this.#start = start;
    this.#now = start;
    this.#events = Array(end - start);
  }

  get now(): number {
    return this.#now;
  }

  /** Instants are whole milliseconds, and never in the past. */
  add(at: number, event: Event): void {
    const index = at - this.#start;
    if (index >= this.#events.length) return;
    const events = this.#events[index];
    if (events) events.push(event);
    else this.#events[index] = [event];
  }

  /** Runs all events in order; those of one millisecond in the order in which they were added. */
  run(): void {
    for (let index = 0; index < this.#events.length; index++) {
      this.#now = this.#start + index;
      const events = this.#events[index];
      // An event may add others to the same millisecond.
      for (let i = 0; events && i < events.length; i++) events[i]!();
      this.#events[index] = undefined;
    }
  }
}

type Event = () => void;
