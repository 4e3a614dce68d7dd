import { DAY, HOUR, MINUTE, SECOND } from '../../../src/kit/clock.ts';

export interface Quotas {
  perMinute: number;
  perDay: number;
}

/** The contents that a response must have. */
export interface Expected {
  /** The code of the 429; `undefined` when the request is admitted. */
  rejection: 'rate_limit_exceeded' | 'api_key_banned' | undefined;
  limit: number;
  remaining: number;
  /** Unix seconds. */
  reset: number;
}

const BANS = [1, 5, 15, 60].map(minutes => minutes * MINUTE);

/** The limits and bans of one key or address, computed independently from the documented rules. */
export class IndependentCount {
  readonly #quotas: Quotas;
  readonly #isBannable: boolean;
  /** Admitted requests by the number of the minute and of the day. */
  readonly #byMinute = new Map<number, number>();
  readonly #byDay = new Map<number, number>();
  #lastRejection = { since: 0, until: 0 };
  #strikes: number[] = [];
  #bans: { until: number }[] = [];

  constructor(quotas: Quotas, isBannable: boolean) {
    this.#quotas = quotas;
    this.#isBannable = isBannable;
  }

  /** Counts a request. */
  next(now: number): Expected {
    if (now < this.#bannedUntil) return this.#banned(now);
    const { minute, day } = this.#left(now);
    if (minute > 0 && day > 0) {
      add(this.#byMinute, Math.floor(now / MINUTE));
      add(this.#byDay, Math.floor(now / DAY));
      this.#lastRejection = { since: 0, until: 0 };
      return this.peek(now);
    }
    const rejected = this.peek(now);
    if (this.#isBannable && this.#isTooMany(rejected.reset * SECOND, now)) return this.#banned(now);
    return { ...rejected, rejection: 'rate_limit_exceeded' };
  }

  /** The headers of a response without counting a request. */
  peek(now: number): Expected {
    const { minute, day } = this.#left(now);
    const [limit, remaining, length] =
      minute < day ? [this.#quotas.perMinute, minute, MINUTE] : [this.#quotas.perDay, day, DAY];
    const reset = ((Math.floor(now / length) + 1) * length) / SECOND;
    return { rejection: undefined, limit, remaining, reset };
  }

  get #bannedUntil(): number {
    return this.#bans.at(-1)?.until ?? 0;
  }

  #left(now: number): { minute: number; day: number } {
    return {
      minute: this.#quotas.perMinute - (this.#byMinute.get(Math.floor(now / MINUTE)) ?? 0),
      day: this.#quotas.perDay - (this.#byDay.get(Math.floor(now / DAY)) ?? 0),
    };
  }

  #banned(now: number): Expected {
    const { limit, remaining, reset } = this.peek(now);
    const until = this.#bannedUntil / SECOND;
    return {
      rejection: 'api_key_banned',
      limit,
      remaining: 0,
      reset: remaining > 0 ? until : Math.max(until, reset),
    };
  }

  /** Whether a rejected request, which must wait until `end`, is the tenth strike within a minute. */
  #isTooMany(end: number, now: number): boolean {
    if (now >= this.#lastRejection.until || end > this.#lastRejection.until)
      this.#lastRejection = { since: now, until: end };
    if (now - this.#lastRejection.since < 2 * SECOND) return false;
    this.#strikes = [...this.#strikes.filter(at => now - at < MINUTE), now];
    if (this.#strikes.length < 10) return false;
    this.#strikes = [];
    if (now - this.#bannedUntil >= 24 * HOUR) this.#bans = [];
    const length = BANS[this.#bans.length] ?? HOUR;
    this.#bans.push({ until: Math.floor((now + length) / SECOND) * SECOND });
    return true;
  }
}

function add(counts: Map<number, number>, window: number): void {
  counts.set(window, (counts.get(window) ?? 0) + 1);
}
