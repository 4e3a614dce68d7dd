import type { Logger } from 'pino';
import type { Clock } from '../kit/clock.ts';
import { LogPace } from '../kit/log-pace.ts';

/** Logs connections that were closed because there were too many, at most once a second: each line costs more than they do. */
export class ExcessLog {
  readonly pace: LogPace;
  #last: { address: string; limit: 'total' | 'address' } | undefined;
  #closed = 0;

  constructor(log: Logger, clock: Clock) {
    this.pace = new LogPace(clock, () => {
      log.warn({ ...this.#last, closed: this.#closed }, 'connections closed: too many');
      this.#closed = 0;
    });
  }

  /** `closed` in the line is the number since the line before; `address` and `limit` are those of the last one. */
  write(address: string, limit: 'total' | 'address'): void {
    this.#closed++;
    this.#last = { address, limit };
    this.pace.request();
  }
}
