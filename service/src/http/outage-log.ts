import type { Logger } from 'pino';
import { DatabaseUnavailable } from '../db/database.ts';
import type { Clock } from '../kit/clock.ts';
import { LogPace } from '../kit/log-pace.ts';

/** Logs failures of the store, at most once a second: every request may fail for the same reason. */
export class OutageLog {
  readonly pace: LogPace;
  readonly #log: Logger;
  readonly #onOutage: (outage: DatabaseUnavailable) => void;
  /** How often each kind of work failed since the previous line. */
  #failed: Record<string, number> = {};
  #last: { reason: string; requestId: string | undefined } | undefined;

  /** `onOutage` receives each failure. */
  constructor(log: Logger, clock: Clock, onOutage: (outage: DatabaseUnavailable) => void = () => {}) {
    this.#log = log;
    this.#onOutage = onOutage;
    this.pace = new LogPace(clock, () => {
      log.warn({ ...this.#last, failed: this.#failed }, 'Database unavailable');
      this.#failed = {};
      this.#last = undefined;
    });
  }

  /** Counts a failed request. The line names the last one. */
  writeRequest(requestId: string, outage: DatabaseUnavailable): void {
    this.#count('requests', outage, requestId);
  }

  /** Counts a failed background task if the store was the cause; otherwise logs `message` with the stack. */
  writeTask(task: string, error: unknown, message: string): void {
    if (error instanceof DatabaseUnavailable) this.#count(task, error, this.#last?.requestId);
    else this.#log.error({ err: error }, message);
  }

  #count(work: string, outage: DatabaseUnavailable, requestId: string | undefined): void {
    this.#onOutage(outage);
    this.#failed[work] = (this.#failed[work] ?? 0) + 1;
    this.#last = { reason: outage.reason, requestId };
    this.pace.request();
  }
}
