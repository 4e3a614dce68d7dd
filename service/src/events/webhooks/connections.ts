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

/**
 * Counts the connections to endpoints. One key gets half of them at most: endpoints that take long to answer, however many
 * hosts they are on, leave the other half to the webhooks of others.
 */
export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #byHost = new Map<string, number>();
  readonly #byKey = new Map<number, number>();
  #open = 0;

  constructor(limits: ConnectionLimits) {
    this.#limits = limits;
  }

  /** Takes as many connections as are free, `wanted` at most; returns how many. */
  take({ host, keyId }: Destination, wanted: number): number {
    const { total, perHost } = this.#limits;
    const taken = Math.max(
      0,
      Math.min(
        wanted,
        total - this.#open,
        perHost - (this.#byHost.get(host) ?? 0),
        Math.ceil(total / 2) - (this.#byKey.get(keyId) ?? 0),
      ),
    );
    this.#add({ host, keyId }, taken);
    return taken;
  }

  /** Gives back connections that were taken. */
  free(destination: Destination, count: number): void {
    this.#add(destination, -count);
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
