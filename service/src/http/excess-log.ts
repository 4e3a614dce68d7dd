import type { Logger } from 'pino';
import type { Clock } from '../kit/clock.ts';
import { LogPace } from '../kit/log-pace.ts';

/** Logs connections that were closed because there were too many, at most once a second: a line costs more than a connection. */
export class ExcessLog {
  readonly pace: LogPace;
  #last: { address: string; limit: 'total' | 'address' } | undefined;
  #closed = 0;

  constructor(log: Logger, clock: Clock) {
    this.pace = new LogPace(clock, () => {
      log.warn({ ...this.#last, closed: this.#closed }, 'Connections closed: too many');
      this.#closed = 0;
    });
  }

  /** In the line, `closed` is the number since the previous line; `address` and `limit` are those of the last connection. */
  write(address: string, limit: 'total' | 'address'): void {
    this.#closed++;
    this.#last = { address, limit };
    this.pace.request();
  }
}
