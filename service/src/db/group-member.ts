import type { LockedRows, Row, Transaction } from './database.ts';
import { WrappedTransaction } from './wrapped-store.ts';

/** An operation of a group that waited for a lock would let all others wait, whose locks the group holds. */
export class NeedsOwnTransaction extends Error {}

/** The transaction of a group for one of its operations, which stops at its first statement until it is its turn. */
export class GroupMember extends WrappedTransaction {
  /** The locks of the rows that the operation reads first. */
  readonly locks: string[] = [];
  readonly #turn = Promise.withResolvers<void>();
  readonly #result: Promise<unknown>;
  #isTurn = false;

  constructor(inner: Transaction, work: (tx: Transaction) => Promise<unknown>) {
    super(inner);
    this.#result = work(this);
    // The operation may fail before its turn, in which its caller awaits it.
    this.#result.catch(() => {});
  }

  /** Lets the operation continue. Resolves with its result. */
  continue(): Promise<unknown> {
    this.#isTurn = true;
    this.#turn.resolve();
    return this.#result;
  }

  override lockedRow(
    rows: LockedRows,
    id: number,
    read: (ids: readonly number[]) => Promise<Row[]>,
  ): Promise<Row | undefined> {
    if (!this.#isTurn) this.locks.push(`${rows.lock} ${id}`);
    return super.lockedRow(rows, id, read);
  }

  override lock(...names: readonly string[]): Promise<void> {
    if (!this.#isTurn) this.locks.push(...names);
    return super.lock(...names);
  }

  protected override async awaited<T>(statement: () => Promise<T>): Promise<T> {
    await this.#turn.promise;
    return statement();
  }

  /** An operation that begins with a statement for which it does not wait cannot be stopped there. */
  protected override sent(statement: () => void): void {
    if (!this.#isTurn) throw new NeedsOwnTransaction('The operation does not wait for its first statement');
    statement();
  }
}
