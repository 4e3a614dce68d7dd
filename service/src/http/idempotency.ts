import { hash } from 'node:crypto';
import { ApiError } from '../contract/errors.ts';
import type { Queries, Transaction, Writer } from '../db/database.ts';
import { DAY } from '../kit/clock.ts';
import type { Reply } from '../routes/reply.ts';
import {
  deleteOutcomesBefore,
  insertOutcome,
  type OutcomeRow,
  selectOutcome,
} from './idempotency-queries.ts';

/** How long an outcome is replayed, in milliseconds. */
export const KEPT_FOR = DAY;

/** Outcomes deleted in one transaction. */
const SWEPT_AT_ONCE = 500;

/** The most characters of a key. */
export const KEY_LENGTH = 255;

const wellFormedKey = new RegExp(`^[\\x20-\\x7e]{1,${KEY_LENGTH}}$`);

export interface Attempt {
  apiKeyId: number;
  /** As the client sent it: raw, or as a quoted string (draft-ietf-httpapi-idempotency-key-header-07). */
  header: string;
  method: string;
  path: string;
  body: unknown;
  /** Fields of the resource that are not kept. */
  shownOnce: readonly string[];
  now: number;
}

export interface Outcome {
  reply: Reply;
  replayed: boolean;
}

/** Makes POST requests repeatable: the outcome is kept in the transaction of the effect, and replayed as long as it is kept. */
export class Idempotency {
  readonly #db: Queries & Writer;
  /** Attempts that have no outcome yet in this process. */
  readonly #running = new Set<string>();

  constructor(db: Queries & Writer) {
    this.#db = db;
  }

  /** Runs `effect` unless this attempt has an outcome. A rejection is no outcome: the same key may be tried again. */
  async once(db: Writer, attempt: Attempt, effect: (tx: Transaction) => Promise<Reply>): Promise<Outcome> {
    const { apiKeyId } = attempt;
    const key = keyIn(attempt.header);
    const running = `${apiKeyId} ${key}`;
    if (this.#running.has(running)) throw keyInUse();
    this.#running.add(running);
    try {
      return await db.write(tx => this.#attempt(tx, attempt, key, effect));
    } finally {
      this.#running.delete(running);
    }
  }

  /** Deletes a slice of the outcomes that are no longer replayed. Returns whether there may be more. */
  async sweep(now: number): Promise<boolean> {
    return (await deleteOutcomesBefore(this.#db, now - KEPT_FOR, SWEPT_AT_ONCE)) === SWEPT_AT_ONCE;
  }

  async #attempt(
    tx: Transaction,
    attempt: Attempt,
    key: string,
    effect: (tx: Transaction) => Promise<Reply>,
  ): Promise<Outcome> {
    const { apiKeyId, now, shownOnce } = attempt;
    const fingerprint = fingerprintOf(attempt);
    const [isFree, kept] = await Promise.all([
      tx.tryLock(`idempotency key ${apiKeyId} ${key}`),
      selectOutcome(tx, apiKeyId, key, now - KEPT_FOR),
    ]);
    if (!isFree) throw keyInUse();
    if (kept) {
      if (!fingerprint.equals(kept.fingerprint)) {
        throw new ApiError(
          'idempotency_key_reused',
          'This Idempotency-Key was used with another request; take a new one for this request',
        );
      }
      return { reply: replyOf(kept), replayed: true };
    }
    const reply = await effect(tx);
    if (reply.kind !== 'created' && reply.kind !== 'resource') {
      throw new Error('Only a POST that answers with a resource can be repeated under a key');
    }
    const location = reply.kind === 'created' ? reply.location : null;
    const body = JSON.stringify(reply.body, (field, value) =>
      shownOnce.includes(field) ? undefined : value,
    );
    await insertOutcome(tx, apiKeyId, key, { fingerprint, location, body }, now);
    return { reply, replayed: false };
  }
}

function keyInUse(): ApiError {
  return new ApiError(
    'idempotency_key_in_use',
    'The first request with this Idempotency-Key is still running; ask again shortly',
  );
}

/** A POST that made something said where; one without a location did something to what was there. */
function replyOf({ location, body }: OutcomeRow): Reply {
  const resource = JSON.parse(body);
  return location === null
    ? { kind: 'resource', body: resource }
    : { kind: 'created', body: resource, location };
}

/** The key in the header: 1 to 255 printable ASCII characters, quoted or not. */
function keyIn(header: string): string {
  const key = /^"(.*)"$/.exec(header.trim())?.[1] ?? header.trim();
  if (wellFormedKey.test(key)) return key;
  throw new ApiError(
    'invalid_request',
    `Idempotency-Key must have 1 to ${KEY_LENGTH} printable ASCII characters, but had ${key.length}`,
  );
}

function fingerprintOf({ method, path, body }: Attempt): Buffer {
  return hash('sha256', `${method} ${path} ${JSON.stringify(body)}`, 'buffer');
}
