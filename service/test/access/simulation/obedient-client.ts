import type { BanRules, Terms } from '../../../src/counters/decide.ts';
import type { MemoryCounters } from '../../../src/counters/memory.ts';
import type { WindowLimits } from '../../../src/counters/windows.ts';
import { SECOND } from '../../../src/kit/clock.ts';
import type { Random } from '../../support/random.ts';
import type { Agenda } from './agenda.ts';

/** The maximum time of a request to the service, of its response back, and of both together, in milliseconds. */
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
  /** The number of connections. */
  parallelism: number;
}

/** A connection with at most one request at a time. */
interface Connection {
  /** How long the response to its request takes, in milliseconds. */
  down: number;
  /** The seconds that the response asks to wait; 0 when the request was admitted. */
  wait: number;
  decide: () => void;
  arrive: () => void;
}

/**
 * A client that sends as fast as it can until a 429 arrives. Then it sends nothing until the time that the 429 states
 * has passed since its arrival. Another 429 that arrives in that time can extend that time, but never shorten it.
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

  /** Whether the slowest request and the slowest response, of different round trips, take less than `time` together. */
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

  /** Changes the limits in the service. The client does not notice. */
  changeLimits(limits: WindowLimits): void {
    this.#terms = { ...this.#terms, limits };
  }

  #connect(): Connection {
    const connection: Connection = {
      down: 0,
      wait: 0,
      decide: () => this.#decide(connection),
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
    agenda.add(agenda.now + up, connection.decide);
  }

  #decide(connection: Connection): void {
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
