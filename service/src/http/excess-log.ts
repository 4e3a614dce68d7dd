import type { Logger } from 'pino';
import { type Clock, SECOND } from '../kit/clock.ts';

/** Logs connections that were closed because there were too many, at most once a second: each line costs more than they do. */
export class ExcessLog {
  readonly #log: Logger;
  readonly #clock: Clock;
  #loggedAt = Number.NEGATIVE_INFINITY;
  #sinceLogged = 0;

  constructor(log: Logger, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  /** `closed` in the line is the number since the line before; `address` and `limit` are those of the last one. */
  write(address: string, limit: 'total' | 'address'): void {
    this.#sinceLogged++;
    const now = this.#clock.now();
    // A clock that was set back says nothing of the time since the last line.
    if (now >= this.#loggedAt && now - this.#loggedAt < SECOND) return;
    this.#log.warn({ address, limit, closed: this.#sinceLogged }, 'connections closed: too many');
    this.#loggedAt = now;
    this.#sinceLogged = 0;
  }
}
