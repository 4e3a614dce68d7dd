export interface ConnectionLimits {
  /** The most connections of this process. */
  total: number;
  /** The most to one host, whatever the port. */
  perHost: number;
}

/** What a connection counts against. */
export interface Destination {
  host: string;
  /** The key that the webhook belongs to. */
  keyId: number;
}

/** Waits for a connection, of which it is given one when it is its turn. */
export interface Waiter {
  destination: Destination;
  /** A connection was taken for it. */
  onTaken: () => void;
}

/**
 * Counts the connections to endpoints. One key gets half of them at most: endpoints that take long to answer, however many
 * hosts they are on, leave the other half to the webhooks of others. Those that wait get one each, in turn.
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

  /** Takes as many connections as are free, `wanted` at most; returns how many. */
  take(destination: Destination, wanted: number): number {
    const taken = Math.max(0, Math.min(wanted, this.#freeFor(destination)));
    this.#add(destination, taken);
    return taken;
  }

  /** Gives back connections that were taken: to those that wait, first. */
  free(destination: Destination, count: number): void {
    this.#add(destination, -count);
    for (const waiter of this.#waiting) {
      if (this.#open >= this.#limits.total) return;
      if (this.take(waiter.destination, 1) === 0) continue;
      this.#waiting.delete(waiter);
      waiter.onTaken();
    }
  }

  /** Puts a waiter at the end of the queue, unless it is in it. */
  wait(waiter: Waiter): void {
    this.#waiting.add(waiter);
  }

  stopWaiting(waiter: Waiter): void {
    this.#waiting.delete(waiter);
  }

  /** How many connections that carry nothing may be open besides those that are taken, in total and to a host. */
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

/** The host of a URL, without port and without the trailing dot of an absolute name. */
export function hostOf(url: string): string {
  return new URL(url).hostname.replace(/\.$/, '');
}
