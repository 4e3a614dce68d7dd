import type { Database } from '../../src/db/database.ts';

/** Keeps the writers of the store busy until it is told to let go. */
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
  // On a server as many as there are connections.
  while (holding.length < 20) holding.push(hold());
  return async () => {
    release();
    await Promise.all(holding);
  };
}
