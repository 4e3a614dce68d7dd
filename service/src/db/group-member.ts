import type {
  AtEnd,
  LockedRows,
  NewEvent,
  QueryPlan,
  Row,
  StoredEvent,
  Transaction,
  Value,
} from './database.ts';
import type { Insert, Update } from './insert.ts';
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

  override async get<Row>(sql: string, values?: readonly Value[]): Promise<Row | undefined> {
    await this.#turn.promise;
    return super.get(sql, values);
  }

  override async all<Row>(sql: string, values?: readonly Value[], plan?: QueryPlan): Promise<Row[]> {
    await this.#turn.promise;
    return super.all(sql, values, plan);
  }

  override async run(sql: string, values?: readonly Value[]): Promise<number> {
    await this.#turn.promise;
    return super.run(sql, values);
  }

  override async insert(row: Insert, values: readonly Value[]): Promise<number | undefined> {
    await this.#turn.promise;
    return super.insert(row, values);
  }

  override async lockedRow(
    rows: LockedRows,
    id: number,
    read: (ids: readonly number[]) => Promise<Row[]>,
  ): Promise<Row | undefined> {
    if (!this.#isTurn) this.locks.push(`${rows.lock} ${id}`);
    await this.#turn.promise;
    return super.lockedRow(rows, id, read);
  }

  override async lock(...names: readonly string[]): Promise<void> {
    if (!this.#isTurn) this.locks.push(...names);
    await this.#turn.promise;
    return super.lock(...names);
  }

  override async tryLock(name: string): Promise<boolean> {
    await this.#turn.promise;
    return super.tryLock(name);
  }

  override async atEnd(work: AtEnd, values: readonly string[]): Promise<void> {
    await this.#turn.promise;
    return super.atEnd(work, values);
  }

  override async savepoint<T>(part: () => Promise<T>): Promise<T> {
    await this.#turn.promise;
    return super.savepoint(part);
  }

  override async appendNumbered(event: NewEvent): Promise<StoredEvent> {
    await this.#turn.promise;
    return super.appendNumbered(event);
  }

  override send(sql: string, values: readonly Value[]): void {
    this.#rejectBeforeTurn();
    super.send(sql, values);
  }

  override update(update: Update, id: number, values: readonly Value[]): void {
    this.#rejectBeforeTurn();
    super.update(update, id, values);
  }

  override insertLater(into: string, rows: readonly (readonly Value[])[]): void {
    this.#rejectBeforeTurn();
    super.insertLater(into, rows);
  }

  override append(event: NewEvent): void {
    this.#rejectBeforeTurn();
    super.append(event);
  }

  /** An operation that begins with a statement for which it does not wait cannot be stopped there. */
  #rejectBeforeTurn(): void {
    if (!this.#isTurn) throw new NeedsOwnTransaction('The operation does not wait for its first statement');
  }
}
