import { hash } from 'node:crypto';
import { ApiError } from '../contract/errors.ts';
import { KEY_HEADER, KEY_LENGTH, RETENTION } from '../contract/idempotency-key.ts';
import type { Queries, Statements, Transaction, Writer } from '../db/database.ts';
import { canonicalJson } from '../kit/canonical-json.ts';
import type { Reply } from '../routes/reply.ts';
import {
  deleteOutcomesBefore,
  insertOutcome,
  type OutcomeRow,
  selectOutcome,
} from './idempotency-queries.ts';
import { shown } from './quoting.ts';

/** Outcomes deleted in one transaction. */
const SWEPT_AT_ONCE = 500;

const wellFormedHeader = new RegExp(KEY_HEADER);

interface Attempt {
  apiKeyId: number;
  /** As the client sent it, with or without quotation marks. */
  header: string;
  method: string;
  path: string;
  body: unknown;
  /** Fields of the resource that are not stored. */
  shownOnce: readonly string[];
  now: number;
}

interface Outcome {
  reply: Reply;
  replayed: boolean;
}

/** Makes POST requests repeatable: stores the outcome in the transaction of the effect, and replays it. */
export class Idempotency {
  readonly #db: Statements & Writer;
  /** The keys of attempts that are running in this process. */
  readonly #running = new Set<string>();

  constructor(db: Statements & Writer) {
    this.#db = db;
  }

  /**
   * Runs `prepare` outside of the transaction and `effect` in it, unless this attempt has an outcome. An error is not an outcome: the client
   * may retry with the same key.
   */
  async once(
    db: Queries & Writer,
    attempt: Attempt,
    effect: (tx: Transaction) => Promise<Reply>,
    prepare?: () => Promise<void>,
  ): Promise<Outcome> {
    const { apiKeyId, now } = attempt;
    const key = keyIn(attempt.header);
    const running = `${apiKeyId} ${key}`;
    if (this.#running.has(running)) throw keyInUse();
    this.#running.add(running);
    try {
      const fingerprint = fingerprintOf(attempt);
      if (prepare && !(await selectOutcome(db, apiKeyId, key, now - RETENTION))) await prepare();
      return await db.write(tx => this.#attempt(tx, attempt, { key, fingerprint }, effect));
    } finally {
      this.#running.delete(running);
    }
  }

  /** Deletes a slice of the expired outcomes. Returns whether more may remain. */
  async sweep(now: number): Promise<boolean> {
    return (await deleteOutcomesBefore(this.#db, now - RETENTION, SWEPT_AT_ONCE)) === SWEPT_AT_ONCE;
  }

  async #attempt(
    tx: Transaction,
    attempt: Attempt,
    { key, fingerprint }: { key: string; fingerprint: Buffer },
    effect: (tx: Transaction) => Promise<Reply>,
  ): Promise<Outcome> {
    const { apiKeyId, now, shownOnce } = attempt;
    const [isFree, stored] = await Promise.all([
      tx.tryLock(`idempotency key ${apiKeyId} ${key}`),
      selectOutcome(tx, apiKeyId, key, now - RETENTION),
    ]);
    if (!isFree) throw keyInUse();
    if (stored) {
      if (!fingerprint.equals(stored.fingerprint)) {
        throw new ApiError(
          'idempotency_key_reused',
          'This Idempotency-Key was used with another request; send a new key with this request',
        );
      }
      return { reply: replyOf(stored), replayed: true };
    }
    const reply = await effect(tx);
    if (reply.kind !== 'created' && reply.kind !== 'resource') {
      throw new Error('Only a POST that returns a resource can be repeated with a key');
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
    'The first request with this Idempotency-Key is still running; send the request again shortly',
  );
}

/** The reply to replay. An outcome with a location created a resource; one without changed an existing resource. */
function replyOf({ location, body }: OutcomeRow): Reply {
  const resource = JSON.parse(body);
  return location === null
    ? { kind: 'resource', body: resource }
    : { kind: 'created', body: resource, location };
}

/** Reads the key from the header. Throws `invalid_request`. */
function keyIn(header: string): string {
  if (wellFormedHeader.test(header)) return header.startsWith('"') ? header.slice(1, -1) : header;
  throw new ApiError(
    'invalid_request',
    `Idempotency-Key must have 1 to ${KEY_LENGTH} printable ASCII characters, with or without quotation marks around them, ` +
      `but was ${shown(header)}`,
  );
}

/** Requests are compared by value: a client can write the same fields in another order when it sends them again. */
function fingerprintOf({ method, path, body }: Attempt): Buffer {
  return hash('sha256', `${method} ${path} ${canonicalJson(body)}`, 'buffer');
}
