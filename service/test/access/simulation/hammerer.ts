import type { BanRules, Terms } from '../../../src/counters/decide.ts';
import type { MemoryCounters } from '../../../src/counters/memory.ts';
import type { WindowLimits } from '../../../src/counters/windows.ts';
import type { Agenda } from './agenda.ts';

/** A pattern of requests: `requests` at once, again after `every` milliseconds, whatever the responses. */
export interface Hammering {
  requests: number;
  every: number;
}

export interface HammererOptions {
  keyId: number;
  counters: MemoryCounters;
  agenda: Agenda;
  limits: WindowLimits;
  banRules: BanRules;
  hammering: Hammering;
}

/** A client that ignores every 429, until it is banned. */
export class Hammerer {
  readonly keyId: number;
  readonly #options: HammererOptions;
  readonly #terms: Terms;
  /** The window of the last rejection, identified by its end, and when the first request in it was rejected. */
  #window = { reset: 0, firstRejectedAt: 0 };
  #rejectedAfterForgiveness = 0;
  #bannedAt: number | undefined;
  #startedAt = 0;
  #rounds = 0;

  constructor(options: HammererOptions) {
    const { keyId, limits, banRules } = options;
    this.keyId = keyId;
    this.#options = options;
    this.#terms = { limits, bansLiftedAt: 0, banRules };
  }

  get bannedAt(): number | undefined {
    return this.#bannedAt;
  }

  /** The strikes in the window in which the ban started, including the one that started it. */
  get rejectedAfterForgiveness(): number {
    return this.#rejectedAfterForgiveness;
  }

  start(): void {
    this.#startedAt = this.#options.agenda.now;
    this.#round();
  }

  #round(): void {
    const { agenda, hammering } = this.#options;
    for (let i = 0; i < hammering.requests && this.#bannedAt === undefined; i++) this.#request(agenda.now);
    if (this.#bannedAt !== undefined) return;
    this.#rounds++;
    agenda.add(Math.floor(this.#startedAt + this.#rounds * hammering.every), () => this.#round());
  }

  #request(now: number): void {
    const { keyId, counters, banRules } = this.#options;
    const { verdict, reset } = counters.decideKey(keyId, this.#terms, now);
    if (verdict === 'admitted') return;
    if (verdict === 'refused' && reset !== this.#window.reset) {
      this.#window = { reset, firstRejectedAt: now };
      this.#rejectedAfterForgiveness = 0;
    }
    if (now >= this.#window.firstRejectedAt + banRules.forgiveness) this.#rejectedAfterForgiveness++;
    if (verdict === 'banned') this.#bannedAt = now;
  }
}
