import type { Database, Transaction } from '../../src/db/database.ts';

/** Occupies the writers of the store until the returned function is called. */
export async function holdWrites(db: Database): Promise<() => Promise<void>> {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const hold = () =>
    db.write(async () => {
      begin();
      await released;
    });
  const holding = [hold()];
  await begun;
  // PostgreSQL has one writer per connection.
  while (holding.length < 20) holding.push(hold());
  return async () => {
    release();
    await Promise.all(holding);
  };
}

/** Keeps a transaction with its locks open until the returned function is called. */
export async function holdLocks(
  db: Database,
  locking: (tx: Transaction) => Promise<unknown>,
): Promise<() => Promise<void>> {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const { promise: held, resolve: locked } = Promise.withResolvers<void>();
  const work = async (tx: Transaction) => {
    await locking(tx);
    locked();
    await released;
  };
  const holding = db.write(work, { alone: true });
  await held;
  return async () => {
    release();
    await holding;
  };
}
