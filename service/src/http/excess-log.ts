import type { Logger } from 'pino';
import { type Clock, MINUTE } from '../kit/clock.ts';
import { LogPace } from '../kit/log-pace.ts';
import { type ExceededLimit, limitSettings } from './connection-limits.ts';

/** Logs connections that were rejected because there were too many, at most once a minute: clients can cause any number. */
export class ExcessLog {
  readonly pace: LogPace;
  #last: { address: string; limit: ExceededLimit; setting: string } | undefined;
  #rejected = 0;

  constructor(log: Logger, clock: Clock) {
    const write = () => {
      log.warn({ ...this.#last, rejected: this.#rejected }, 'Connections rejected: too many');
      this.#rejected = 0;
    };
    this.pace = new LogPace(clock, write, MINUTE);
  }

  /** In the line, `rejected` is the number since the previous line; the rest is that of the last connection. */
  write(address: string, limit: ExceededLimit): void {
    this.#rejected++;
    this.#last = { address, limit, setting: limitSettings[limit] };
    this.pace.request();
  }
}
