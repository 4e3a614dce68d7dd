export interface ConnectionLimits {
  /** The maximum number of connections of this process. */
  total: number;
  /** The maximum number of connections to one host, on all ports together. */
  perHost: number;
}

/** The host and the key whose limits a connection counts against. */
export interface Destination {
  host: string;
  /** The key that the webhook belongs to. */
  keyId: number;
}

/** Waits in the queue for one connection. */
export interface Waiter {
  destination: Destination;
  /** Called when a connection was taken for the waiter. */
  onTaken: () => void;
}

/**
 * Counts the connections to endpoints. One key gets at most half of them: if its endpoints respond slowly, on any number of
 * hosts, the other half remains for the webhooks of other keys. Waiters get one connection each, in the order of the queue.
 */
export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #byHost = new Map<string, number>();
  readonly #byKey = new Map<number, number>();
  readonly #waiting = new Set<Waiter>();
  #open = 0;

  constructor(limits: ConnectionLimits) {
    this.#limits = limits;
  }

  /** Takes up to `wanted` free connections; returns how many. */
  take(destination: Destination, wanted: number): number {
    const taken = Math.max(0, Math.min(wanted, this.#freeFor(destination)));
    this.#add(destination, taken);
    return taken;
  }

  /** Frees connections that were taken. Waiters get them first. */
  free(destination: Destination, count: number): void {
    this.#add(destination, -count);
    for (const waiter of this.#waiting) {
      if (this.#open >= this.#limits.total) return;
      if (this.take(waiter.destination, 1) === 0) continue;
      this.#waiting.delete(waiter);
      waiter.onTaken();
    }
  }

  /** Adds a waiter to the end of the queue, unless it is already in the queue. */
  wait(waiter: Waiter): void {
    this.#waiting.add(waiter);
  }

  stopWaiting(waiter: Waiter): void {
    this.#waiting.delete(waiter);
  }

  /** Returns how many idle connections may be open in addition to those that are taken, in total and to a host. */
  room(host: string): { total: number; ofHost: number } {
    const { total, perHost } = this.#limits;
    return { total: total - this.#open, ofHost: perHost - (this.#byHost.get(host) ?? 0) };
  }

  #freeFor({ host, keyId }: Destination): number {
    const { total, perHost } = this.#limits;
    return Math.min(
      total - this.#open,
      perHost - (this.#byHost.get(host) ?? 0),
      Math.ceil(total / 2) - (this.#byKey.get(keyId) ?? 0),
    );
  }

  #add({ host, keyId }: Destination, count: number): void {
    this.#open += count;
    add(this.#byHost, host, count);
    add(this.#byKey, keyId, count);
  }
}

function add<Key>(counts: Map<Key, number>, key: Key, count: number): void {
  const sum = (counts.get(key) ?? 0) + count;
  if (sum === 0) counts.delete(key);
  else counts.set(key, sum);
}

/** Returns the host of a URL, without port and without the trailing dot of an absolute name. */
export function hostOf(url: string): string {
  return new URL(url).hostname.replace(/\.$/, '');
}
