import type { App } from '../../src/app.ts';
import { onPostgres } from './test-store.ts';

/** Puts events into the log in bulk, without changes that they tell of. `data` is JSON. */
export async function appendMany(
  { db, clock }: Pick<App, 'db' | 'clock'>,
  count: number,
  { type = 'pet.updated', subject = 'pets/1', data = '{}' } = {},
): Promise<void> {
  await db.write(async tx => {
    await tx.run(
      `INSERT INTO ${onPostgres ? 'new_events' : 'events'} (type, subject, time, data)
       WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
       SELECT '${type}', '${subject}', ${clock.now()}, '${data}' FROM numbers`,
    );
    // What comes by the usual way makes the log look for the rest.
    tx.append({ type: 'pet.created', subject: 'pets/2', data: '{}' });
  });
}
