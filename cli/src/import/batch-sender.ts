import { randomUUID } from 'node:crypto';
import type { BatchResults, CallOptions, PetStore } from '@petstore/client';
import { ImportError } from '../failure.ts';
import type { Batch, Journal, SentBatch } from './journal.ts';

const HOUR = 60 * 60 * 1000;
/** The service stores outcomes for 24 hours. An hour less leaves time for clocks that differ and for the request itself. */
const LIFETIME = 23 * HOUR;
export const EXPIRED =
  'The service stores the outcome of a batch for 24 hours, and less than one of them is left';

/** Connects with a `fetch` of the caller. */
export type Connect = (options: { fetch: (url: string, init: RequestInit) => Promise<Response> }) => PetStore;

/**
 * Sends batches, so that each is executed once: the journal has the batch and its Idempotency-Key before the first byte is
 * sent, and keeps them while the service may have executed it without a response.
 */
export class BatchSender {
  readonly store: PetStore;
  readonly #journal: Journal;
  readonly #calls: CallOptions;
  readonly #now: () => number;
  #batch: SentBatch | undefined;
  /** Whether the service may have executed the batch. */
  #isInDoubt = false;
  #expiry = new AbortController();

  constructor(connect: Connect, journal: Journal, calls: CallOptions, now: () => number = Date.now) {
    this.#journal = journal;
    this.#calls = calls;
    this.#now = now;
    this.store = connect({ fetch: (url, init) => this.#fetch(url, init) });
  }

  /** Sends a batch for the first time. */
  send(batch: Batch): Promise<BatchResults> {
    const sent = { ...batch, idempotencyKey: randomUUID(), sentAt: new Date(this.#now()).toISOString() };
    return this.#send(sent, false);
  }

  /** Sends the batch of the journal again. Throws an `ImportError` if the service does not know it any more. */
  sendAgain(batch: SentBatch): Promise<BatchResults> {
    return this.#send(batch, true);
  }

  async #send({ idempotencyKey, ...rest }: SentBatch, isInDoubt: boolean): Promise<BatchResults> {
    this.#batch = { ...rest, idempotencyKey };
    this.#isInDoubt = isInDoubt;
    const { signal } = this.#calls;
    const either = AbortSignal.any([this.#expiry.signal, ...(signal ? [signal] : [])]);
    const options = { ...this.#calls, signal: either, idempotencyKey };
    try {
      return await this.store.batches.create({ atomic: false, operations: rest.operations }, options);
    } finally {
      // Nothing of it was executed if it was never sent, or rejected each time.
      if (!this.#isInDoubt) this.#journal.save({ sent: null });
    }
  }

  async #fetch(url: string, init: RequestInit): Promise<Response> {
    const batch = this.#batch;
    if (batch === undefined || !url.endsWith('/batch')) return fetch(url, init);
    const before = this.#isInDoubt;
    if (before && this.isExpired(batch)) this.#expiry.abort(inDoubt(batch, EXPIRED));
    if (!before) {
      // It was sent first now, also if the limits rejected it before.
      const sentAt = new Date(this.#now()).toISOString();
      this.#journal.save({ sent: { ...batch, sentAt } });
    }
    this.#isInDoubt = true;
    const response = await fetch(url, { ...init, signal: init.signal ?? null });
    if (response.status >= 400 && response.status < 500) this.#isInDoubt = before;
    return response;
  }

  /** Whether the service may not know the outcome of the batch any more, and would execute it again. */
  isExpired({ sentAt }: SentBatch): boolean {
    return this.#now() - Date.parse(sentAt) > LIFETIME;
  }
}

/** The error of a batch that cannot be sent again, and whose pets may exist. */
export function inDoubt({ lines: [first, last], sentAt }: SentBatch, reason: string): ImportError {
  return new ImportError(
    `The rows on lines ${first} to ${last} were sent at ${sentAt}, and no response arrived. ${reason}, so it is not known ` +
      'whether their pets exist. Look for one of them with `petstore pets list --name`: either all valid rows were imported or none. Then run the command again ' +
      'with `--in-doubt skip` if they exist, or with `--in-doubt send` if not',
  );
}
