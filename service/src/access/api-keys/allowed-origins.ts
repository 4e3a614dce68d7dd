import type { Notifier } from '../../db/database.ts';
import { isFresh, KEYS_CHANGED } from './key-ring.ts';
import { MAX_ORIGIN_LENGTH } from './origins.ts';

interface Known {
  isAllowed: boolean;
  readAt: number;
  /** The number of changes of keys that this process had made before the read. */
  changes: number;
}

interface Reading {
  startedAt: number;
  isAllowed: Promise<boolean>;
}

interface AllowedOriginsOptions {
  /** Reads whether an active publishable key lists the origin. */
  read: (origin: string, now: number) => Promise<boolean>;
  /** Receives the failure of a read, after which the last known result is used. */
  onError: (error: unknown) => void;
  /** The maximum number of origins that are remembered: as many that are allowed, and as many others. */
  capacity?: number;
}

/** An origin takes about 300 bytes at most. */
const CAPACITY = 10_000;

/**
 * Whether pages of an origin may read responses: whether an active publishable key lists it. The result is remembered for a
 * second, like keys (`KeyRing`), and beyond that only for the time in which the database is unavailable.
 */
export class AllowedOrigins {
  readonly #options: Required<AllowedOriginsOptions>;
  /** Other origins have a separate table, so that a flood of invented ones cannot remove those that are allowed. */
  readonly #allowed = new Map<string, Known>();
  readonly #others = new Map<string, Known>();
  /** The reads in progress, which concurrent requests share. */
  readonly #readings = new Map<string, Reading>();
  #changes = 0;

  constructor(db: Notifier, options: AllowedOriginsOptions) {
    this.#options = { capacity: CAPACITY, ...options };
    db.onNotice(KEYS_CHANGED, () => {
      this.#changes++;
      this.#readings.clear();
    });
  }

  /** The number of origins that are remembered. */
  get size(): number {
    return this.#allowed.size + this.#others.size;
  }

  /** Returns a promise, which never rejects, only if the database must be read. */
  has(origin: string, now: number): boolean | Promise<boolean> {
    if (origin.length > MAX_ORIGIN_LENGTH) return false;
    const known = this.#lastKnown(origin);
    const isUsable = known && known.changes === this.#changes && isFresh(known.readAt, now);
    return isUsable ? known.isAllowed : this.#read(origin, now);
  }

  #lastKnown(origin: string): Known | undefined {
    return this.#allowed.get(origin) ?? this.#others.get(origin);
  }

  async #read(origin: string, now: number): Promise<boolean> {
    let reading = this.#readings.get(origin);
    if (!reading || !isFresh(reading.startedAt, now)) {
      reading = { startedAt: now, isAllowed: this.#options.read(origin, now) };
      this.#readings.set(origin, reading);
    }
    // Another read has replaced this one if it took too long, or if a key was changed meanwhile.
    const isCurrent = () => this.#readings.get(origin) === reading;
    try {
      const isAllowed = await reading.isAllowed;
      if (isCurrent()) this.#remember(origin, { isAllowed, readAt: now, changes: this.#changes });
      return isAllowed;
    } catch (error) {
      if (isCurrent()) this.#options.onError(error);
      return this.#lastKnown(origin)?.isAllowed ?? false;
    } finally {
      if (isCurrent()) this.#readings.delete(origin);
    }
  }

  #remember(origin: string, known: Known): void {
    const [table, other] = known.isAllowed ? [this.#allowed, this.#others] : [this.#others, this.#allowed];
    other.delete(origin);
    if (table.size >= this.#options.capacity && !table.has(origin)) table.clear();
    table.set(origin, known);
  }
}
