import type { BanRules, Terms } from '../../../src/counters/decide.ts';
import type { MemoryCounters } from '../../../src/counters/memory.ts';
import type { WindowLimits } from '../../../src/counters/windows.ts';
import { SECOND } from '../../../src/kit/clock.ts';
import type { Random } from '../../support/random.ts';
import type { Agenda } from './agenda.ts';

/** The longest that a request takes to the service, its response back, and both together, in milliseconds. */
export interface Latency {
  longestUp: number;
  longestDown: number;
  longestTogether: number;
}

export interface ObedientOptions {
  keyId: number;
  counters: MemoryCounters;
  agenda: Agenda;
  random: Random;
  banRules: BanRules;
  limits: WindowLimits;
  latency: Latency;
  /** How many connections it has. */
  parallelism: number;
}

/** It carries one request at a time. */
interface Connection {
  /** How long the response to its request will take. */
  down: number;
  /** How many seconds that response asks to wait; 0 when the request was admitted. */
  wait: number;
  beDecided: () => void;
  arrive: () => void;
}

/**
 * A client that sends as fast as it can until a 429 arrives, and then nothing until the time that this one asks for has
 * passed since it arrived; a further 429 that arrives meanwhile can make that later, never sooner.
 */
export class ObedientClient {
  readonly #options: ObedientOptions;
  #terms: Terms;
  readonly #idle: Connection[];
  #waitsUntil = 0;
  #rejected = 0;
  #admittedAfterRejection = 0;

  constructor(options: ObedientOptions) {
    const { limits, banRules, parallelism } = options;
    this.#options = options;
    this.#terms = { limits, bansLiftedAt: 0, banRules };
    this.#idle = Array.from({ length: parallelism }, () => this.#connect());
  }

  /** Whether the slowest way there and the slowest way back, of different requests, take less than `time` together. */
  isSteadyWithin(time: number): boolean {
    const { longestUp, longestDown } = this.#options.latency;
    return longestUp + longestDown < time;
  }

  get keyId(): number {
    return this.#options.keyId;
  }

  get rejected(): number {
    return this.#rejected;
  }

  get admittedAfterRejection(): number {
    return this.#admittedAfterRejection;
  }

  get bans(): number {
    return this.#options.counters.stateOfKey(this.keyId)?.bans ?? 0;
  }

  get strikes(): number {
    return this.#options.counters.stateOfKey(this.keyId)?.strikes.length ?? 0;
  }

  start(): void {
    for (let connection = this.#idle.pop(); connection; connection = this.#idle.pop()) this.#send(connection);
  }

  /** What the service does by it from now on; the client does not know. */
  changeLimits(limits: WindowLimits): void {
    this.#terms = { ...this.#terms, limits };
  }

  #connect(): Connection {
    const connection: Connection = {
      down: 0,
      wait: 0,
      beDecided: () => this.#beDecided(connection),
      arrive: () => this.#arrive(connection),
    };
    return connection;
  }

  #send(connection: Connection): void {
    const { agenda, random, latency } = this.#options;
    const up = random.between(0, latency.longestUp);
    // A request takes at least a millisecond.
    const longestDown = Math.min(latency.longestDown, latency.longestTogether - up);
    connection.down = Math.max(1, random.between(0, longestDown));
    agenda.add(agenda.now + up, connection.beDecided);
  }

  #beDecided(connection: Connection): void {
    const { keyId, counters, agenda } = this.#options;
    const { verdict, wait } = counters.decideKey(keyId, this.#terms, agenda.now);
    connection.wait = verdict === 'admitted' ? 0 : wait;
    if (verdict !== 'admitted') this.#rejected++;
    else if (this.#rejected > 0) this.#admittedAfterRejection++;
    agenda.add(agenda.now + connection.down, connection.arrive);
  }

  #arrive(connection: Connection): void {
    this.#idle.push(connection);
    if (connection.wait > 0) this.#waitFor(connection.wait);
    if (this.#options.agenda.now >= this.#waitsUntil) this.start();
  }

  #waitFor(seconds: number): void {
    const { agenda } = this.#options;
    const until = agenda.now + seconds * SECOND;
    if (until <= this.#waitsUntil) return;
    this.#waitsUntil = until;
    agenda.add(until, () => {
      if (until === this.#waitsUntil) this.start();
    });
  }
}
