import type { BanRules, Decision, Terms } from '../../src/counters/decide.ts';
import type { VisitDecision } from '../../src/counters/decide-visit.ts';
import type { WindowLimits, WindowName } from '../../src/counters/windows.ts';
import { DAY, MINUTE, SECOND } from '../../src/kit/clock.ts';

interface Span {
  at: number;
  until: number;
}

/** A window, with its requests left. */
interface Room {
  window: WindowName;
  limit: number;
  left: number;
  end: number;
}

/** The requests that were admitted in each minute or each day, by its start. */
class Windows {
  readonly #window: WindowName;
  readonly #length: number;
  readonly #admitted = new Map<number, number>();
  /** The start of the latest one: a window that has begun continues when the clock is set back. */
  #start = 0;

  constructor(window: WindowName, length: number) {
    this.#window = window;
    this.#length = length;
  }

  /** Removes all of them when the clock was more than a minute ahead. */
  enter(now: number): void {
    if (this.#start > now + MINUTE) {
      this.#start = 0;
      this.#admitted.clear();
    }
    this.#start = Math.max(this.#start, now - (now % this.#length));
  }

  add(cost: number): void {
    this.#admitted.set(this.#start, this.used + cost);
  }

  get used(): number {
    return this.#admitted.get(this.#start) ?? 0;
  }

  room(limit: number): Room {
    const left = Math.max(0, limit - this.used);
    return { window: this.#window, limit, left, end: this.#start + this.#length };
  }
}

/**
 * The limits and bans of one key, address or visitor as the documents describe them: the reference for every
 * implementation, with which it shares no code. Instants are in milliseconds since the Unix epoch.
 */
export class History {
  readonly #minute = new Windows('minute', MINUTE);
  readonly #day = new Windows('day', DAY);
  readonly #rejected = new Windows('day', DAY);
  /** The first rejection that asked the caller to wait that long. */
  #wait: Span | undefined;
  #strikes: number[] = [];
  #bans: Span[] = [];

  /** The admitted requests of the minute and the day, and the rejected ones of the day. */
  get used(): number[] {
    return [this.#minute.used, this.#day.used, this.#rejected.used];
  }

  /** Lets time pass. Removes lifted bans, and what a clock has recorded that was more than a minute ahead. */
  enter({ bansLiftedAt }: Terms, now: number): void {
    const latest = now + MINUTE;
    for (const windows of [this.#minute, this.#day, this.#rejected]) windows.enter(now);
    const last = this.#bans.at(-1);
    const isLifted = last && bansLiftedAt >= last.at && bansLiftedAt <= latest;
    if (last && (last.at > latest || isLifted)) {
      this.#bans = [];
      this.#strikes = [];
      this.#wait = undefined;
    }
    if (this.#wait && this.#wait.at > latest) this.#wait = undefined;
    this.#strikes = this.#strikes.filter(at => at <= latest);
  }

  /** The ban in force. */
  ban(now: number): { since: number; until: number } | undefined {
    const last = this.#bans.at(-1);
    return last && now < last.until ? { since: last.at, until: last.until } : undefined;
  }

  /** Both windows. The day is the first: of two that end together it binds. */
  rooms({ perMinute, perDay }: WindowLimits): [day: Room, minute: Room] {
    return [this.#day.room(perDay), this.#minute.room(perMinute)];
  }

  /** Counts an admitted request. */
  add(cost: number): void {
    this.#minute.add(cost);
    this.#day.add(cost);
    this.#wait = undefined;
  }

  reject(): void {
    this.#rejected.add(1);
  }

  /** The numbers for the headers, without counting a request. */
  peek(terms: Terms, now: number): Decision {
    this.enter(terms, now);
    if (this.ban(now)) return this.#banned(terms, now);
    return decision('admitted', fewestLeft(this.rooms(terms.limits)), now);
  }

  /** Decides a request that counts as `cost` requests; a cost of 0 needs room for one. */
  decide(terms: Terms, now: number, cost = 1): Decision {
    this.enter(terms, now);
    if (this.ban(now)) {
      this.reject();
      return this.#banned(terms, now, cost);
    }
    // The day, which ends last, when both are full.
    const full = this.rooms(terms.limits).find(({ left }) => left < Math.max(cost, 1));
    if (!full) {
      if (cost > 0) this.add(cost);
      return this.peek(terms, now);
    }
    this.reject();
    if (terms.banRules && this.#isTooMany(terms, terms.banRules, now))
      return { ...this.#banned(terms, now, cost), banBegins: true };
    return decision('refused', full, now);
  }

  #banned({ limits }: Terms, now: number, cost = 1): Decision {
    const rooms = this.rooms(limits);
    const full = rooms.find(({ left }) => left < Math.max(cost, 1));
    const end = Math.max(this.#bans.at(-1)!.until, full?.end ?? 0);
    return decision('banned', { ...(full ?? fewestLeft(rooms)), left: 0, end }, now);
  }

  /** Whether a rejected request is one strike too many, so that a ban begins. */
  #isTooMany({ limits }: Terms, rules: BanRules, now: number): boolean {
    const full = this.rooms(limits).find(({ left }) => left < 1);
    if (full) {
      if (!this.#wait || now >= this.#wait.until || full.end > this.#wait.until)
        this.#wait = { at: now, until: full.end };
      if (now - this.#wait.at < rules.forgiveness) return false;
    } else {
      // Too many at once; single requests have room. One such request counts in each time of forgiveness.
      if (now - (this.#strikes.at(-1) ?? 0) < rules.forgiveness) return false;
    }
    this.#strikes = [...this.#strikes.filter(at => now - at < rules.strikesWithin), now];
    if (this.#strikes.length < rules.strikes) return false;
    if (now - (this.#bans.at(-1)?.until ?? 0) >= rules.decay) this.#bans = [];
    const duration = rules.durations[this.#bans.length] ?? rules.durations.at(-1)!;
    this.#bans.push({ at: now, until: Math.floor((now + duration) / SECOND) * SECOND });
    this.#strikes = [];
    return true;
  }
}

/** What a visit counts against, in this order. Only visitors with an IPv6 address have a network. */
interface VisitHistory {
  boundBy: VisitDecision['boundBy'];
  history: History;
  terms: Terms;
}

/** Decides a visit: it counts for all of these when all have room, and otherwise for none. */
export function decideVisit(counted: readonly VisitHistory[], now: number): VisitDecision {
  for (const { history, terms } of counted) history.enter(terms, now);
  const rooms = () =>
    counted.flatMap(({ boundBy, history, terms }) =>
      history.rooms(terms.limits).map(room => ({ ...room, boundBy })),
    );
  const isAdmitted = rooms().every(({ left }) => left > 0);
  for (const { history } of counted) isAdmitted ? history.add(1) : history.reject();
  const bound = fewestLeft(rooms());
  return {
    ...decision(isAdmitted ? 'admitted' : 'refused', bound, now),
    boundBy: bound.boundBy,
    hasNetwork: counted.length === 3,
  };
}

/** The window with the fewest requests left; of several the one that ends last; of those the first. */
function fewestLeft<T extends Room>(rooms: readonly T[]): T {
  return rooms.toSorted((a, b) => a.left - b.left || b.end - a.end)[0]!;
}

function decision(verdict: Decision['verdict'], { window, limit, left, end }: Room, now: number): Decision {
  const wait = Math.max(1, Math.ceil((end - now) / SECOND));
  return { verdict, banBegins: false, window, limit, remaining: left, reset: end / SECOND, wait };
}
