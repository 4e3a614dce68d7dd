import { errorCode } from '../../contract/errors.ts';
import type { Operation } from '../../contract/operation.ts';
import { count, id, int32 } from '../../contract/schema.ts';
import { shape } from '../../contract/shape.ts';
import type { Static } from '../../contract/static.ts';
import { withCause } from '../../db/cause-store.ts';
import type { Queries, Transaction, Writer } from '../../db/database.ts';
import { EventKind } from '../../events/event-log/event-kind.ts';
import { addressSubject } from '../../kit/client-address.ts';

const Rejection = shape({
  title: 'Rejection',
  properties: {
    operation: {
      type: 'string',
      maxLength: 100,
      description: 'The method and the path template of the operation, such as `DELETE /keys/{keyId}`.',
    },
    code: { ...errorCode, description: 'The error code of the last attempt.' },
    status: { ...int32, minimum: 400, maximum: 499, description: 'The HTTP status of the last attempt.' },
    attempts: { ...count, description: 'The number of attempts that this event reports.' },
    keyId: {
      ...id,
      nullable: true,
      description: 'The API key that made the requests; null without a valid key.',
    },
    address: {
      type: 'string',
      maxLength: 50,
      nullable: true,
      description:
        'The address of the last attempt. It is null, as `keyId`, for the attempts of further callers when too many are rejected at once.',
    },
  },
  example: {
    operation: 'POST /keys',
    code: 'insufficient_scope',
    status: 403,
    attempts: 3,
    keyId: 2,
    address: '203.0.113.7',
  },
});

type Rejection = Static<typeof Rejection>;

export const rejectionEvents = new EventKind({
  title: 'AccessRefusedEvent',
  types: ['access.refused'],
  data: Rejection,
});

/** A response, as the log of requests has it. */
interface Responded {
  method: string | null;
  route: string | null;
  status: number;
  code: Rejection['code'] | null;
  keyId: number | null;
  address: string | null;
}

/** Whether an operation is administration. Reports of leaked keys, which need no key, are not. */
export function isAdministration({ tag, scope }: Operation): boolean {
  return (tag === 'API keys' || tag === 'Webhooks') && scope !== null;
}

const REJECTED: ReadonlySet<number> = new Set([401, 403, 429]);

/** The number of callers and operations that are counted separately until the next flush: it bounds memory. */
const MOST = 1_000;

/**
 * Counts rejected requests to manage keys, plan requests and webhooks. A flush appends one event for each caller and operation, so there
 * is at most one for each of them between two flushes of a replica.
 */
export class Rejections {
  readonly #counted = new Map<string, Rejection>();
  /** The number of entries that the present flush still has to append. */
  #left = 0;

  note({ method, route, status, code, keyId, address }: Responded): void {
    if (!REJECTED.has(status) || route === null || code === null) return;
    const operation = `${method} ${route}`;
    const caller = keyId === null ? addressSubject(address ?? '') : `keys/${keyId}`;
    const known = this.#counted.get(`${caller} ${operation}`);
    const isSeparate = known !== undefined || this.#counted.size < MOST;
    const name = isSeparate ? `${caller} ${operation}` : ` ${operation}`;
    this.#counted.set(name, {
      operation,
      code,
      status,
      attempts: (this.#counted.get(name)?.attempts ?? 0) + 1,
      keyId: isSeparate ? keyId : null,
      address: isSeparate ? address : null,
    });
  }

  /**
   * Appends one event. Resolves with whether the present flush has more. It ends after the entries that existed at its start, because
   * rejected requests constantly add others. If it fails, the attempts stay for the next flush: they are reported twice if the failed
   * transaction was stored after all.
   */
  async flushOne(db: Queries & Writer): Promise<boolean> {
    if (this.#left === 0) this.#left = this.#counted.size;
    const [first] = this.#counted;
    if (first === undefined) return false;
    const [name, rejection] = first;
    this.#counted.delete(name);
    const actor = rejection.keyId === null ? 'system' : `keys/${rejection.keyId}`;
    const append = async (tx: Transaction) => rejectionEvents.append(tx, 'access.refused', 0, rejection);
    try {
      await withCause(db, { actor }).write(append);
    } catch (error) {
      const later = this.#counted.get(name);
      const attempts = rejection.attempts + (later?.attempts ?? 0);
      this.#counted.set(name, { ...(later ?? rejection), attempts });
      this.#left = 0;
      throw error;
    }
    this.#left--;
    return this.#left > 0;
  }

  /** Appends the remaining events. */
  async close(db: Queries & Writer): Promise<void> {
    while (this.#counted.size > 0) await this.flushOne(db);
  }
}
