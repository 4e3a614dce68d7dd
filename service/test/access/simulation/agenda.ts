/** What is to happen at which millisecond, from `start` up to, but not including, `end`; what comes later never happens. */
export class Agenda {
  readonly #start: number;
  /** By millisecond after the start. */
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

  /** Instants are whole milliseconds, not before now. */
  add(at: number, event: Event): void {
    const index = at - this.#start;
    if (index >= this.#events.length) return;
    const events = this.#events[index];
    if (events) events.push(event);
    else this.#events[index] = [event];
  }

  /** Lets everything happen in its order, events of one millisecond in the order in which they were added. */
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
