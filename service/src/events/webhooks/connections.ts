import type { Agent } from 'node:http';
import https from 'node:https';
import { SECOND } from '../../kit/clock.ts';
import { http } from '../../kit/node-http.ts';

/** How long an idle connection is kept, in milliseconds: less than the common limit of servers, 5 s. */
const MAX_IDLE = 4 * SECOND;

/** How long a connection is used, in milliseconds. After that a new connection looks up the name again. */
const MAX_AGE = 60 * SECOND;

export interface ConnectionLimits {
  /** The maximum number of connections of this process. */
  total: number;
  /** The maximum number of connections to one host, on all ports together. */
  perHost: number;
}

/** The host and the key whose limits a connection counts against. */
interface Destination {
  host: string;
  /** The key that the webhook belongs to. */
  keyId: number;
}

/** Waits in the queue for one connection. */
export interface Waiter {
  destination: Destination;
  /** Whether it can use a connection now. Until then it keeps its place in the queue, and takes a free connection itself. */
  isReady: () => boolean;
  /** Called when a connection was taken for the waiter. */
  onTaken: () => void;
}

/**
 * A connection to an origin. Its agent opens one socket, whose address is checked at that time, and keeps it for the next request. It
 * opens another one if the endpoint or `MAX_IDLE` has closed the socket.
 */
interface Connection {
  agent: Agent;
  origin: string;
  host: string;
  /** By the clock of `Connections`. */
  openedAt: number;
}

/**
 * The connections to endpoints. One key gets at most half of them: if its endpoints respond slowly, on any number of hosts, the
 * other half remains for the webhooks of other keys. Waiters get one connection each, in the order of the queue. An idle
 * connection serves only its origin. It counts against the limits, and is closed when a new one needs its place.
 */
export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #now: () => number;
  /** The number of taken connections, in total, of each host and of each key. */
  readonly #taken = new Map<string, number>();
  readonly #waiting = new Set<Waiter>();
  /** Those used last are at the end. */
  readonly #idle = new Set<Connection>();

  /** `now` returns milliseconds of a clock that never goes back. */
  constructor(limits: ConnectionLimits, now = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
  }

  /** Whether no connection is taken, and no waiter is in the queue. */
  get isUnused(): boolean {
    return this.#taken.size === 0 && this.#waiting.size === 0;
  }

  /** Takes up to `wanted` free connections; returns how many. */
  take(destination: Destination, wanted: number): number {
    const free = this.#limitsOf(destination).map(([name, limit]) => limit - this.#takenOf(name));
    const taken = Math.max(0, Math.min(wanted, ...free));
    this.#count(destination, taken);
    return taken;
  }

  /** Frees connections that were taken. Waiters get them first. */
  free(destination: Destination, count: number): void {
    if (count === 0) return;
    this.#count(destination, -count);
    for (const waiter of this.#waiting) {
      if (this.#takenOf('total') >= this.#limits.total) return;
      if (!waiter.isReady() || this.take(waiter.destination, 1) === 0) continue;
      this.#waiting.delete(waiter);
      waiter.onTaken();
    }
  }

  /** Adds a waiter to the end of the queue, unless it is in the queue, or removes it. */
  wait(waiter: Waiter, waits: boolean): void {
    if (waits) this.#waiting.add(waiter);
    else this.#waiting.delete(waiter);
  }

  /** Returns an idle connection to the origin of a URL, or a new one, for a caller that has taken it. */
  open(url: URL): Connection {
    const { origin, protocol, href } = url;
    for (const kept of [...this.#idle].reverse()) {
      if (kept.origin !== origin) continue;
      this.#idle.delete(kept);
      if (this.#isYoung(kept)) return kept;
      kept.agent.destroy();
    }
    const host = hostOf(href);
    this.#makeRoom(host);
    const options = { keepAlive: true, timeout: MAX_IDLE };
    // TLS sessions are not resumed, so that each connection verifies the certificate.
    const agent =
      protocol === 'https:' ? new https.Agent({ ...options, maxCachedSessions: 0 }) : new http.Agent(options);
    return { agent, origin, host, openedAt: this.#now() };
  }

  /** Keeps a connection after a request, unless it is too old. */
  keep(connection: Connection): void {
    if (this.#isYoung(connection)) this.#idle.add(connection);
    else connection.agent.destroy();
  }

  /** Closes all idle connections. */
  close(): void {
    for (const connection of this.#idle) this.#close(connection);
  }

  /** Closes the oldest idle connections, so that one more can be opened to a host. */
  #makeRoom(host: string): void {
    const ofHost = [...this.#idle].filter(connection => connection.host === host);
    const { total, perHost } = this.#limits;
    const tooMany = (idle: Connection[], limit: number) => idle.slice(0, Math.max(0, idle.length - limit));
    for (const connection of tooMany(ofHost, perHost - this.#takenOf(`host ${host}`)))
      this.#close(connection);
    for (const connection of tooMany([...this.#idle], total - this.#takenOf('total')))
      this.#close(connection);
  }

  #close(connection: Connection): void {
    this.#idle.delete(connection);
    connection.agent.destroy();
  }

  #isYoung({ openedAt }: Connection): boolean {
    return this.#now() - openedAt < MAX_AGE;
  }

  #takenOf(name: string): number {
    return this.#taken.get(name) ?? 0;
  }

  #count(destination: Destination, change: number): void {
    for (const [name] of this.#limitsOf(destination)) {
      const count = this.#takenOf(name) + change;
      if (count === 0) this.#taken.delete(name);
      else this.#taken.set(name, count);
    }
  }

  #limitsOf({ host, keyId }: Destination): [name: string, limit: number][] {
    const { total, perHost } = this.#limits;
    return [
      ['total', total],
      [`host ${host}`, perHost],
      [`key ${keyId}`, Math.ceil(total / 2)],
    ];
  }
}

/** Returns the host of a URL, without port and without the trailing dot of an absolute name. */
export function hostOf(url: string): string {
  return new URL(url).hostname.replace(/\.$/, '');
}
