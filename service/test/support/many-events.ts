import type { App } from '../../src/app.ts';
import { onPostgres } from './test-store.ts';

/** Adds events to the log in bulk, without the changes that they describe. `data` is JSON. */
export async function appendMany(
  { db, clock }: Pick<App, 'db' | 'clock'>,
  count: number,
  { type = 'pet.updated', subject = 'pets/1', data = '{}' } = {},
): Promise<void> {
  await db.write(async tx => {
    await tx.run(
      `INSERT INTO ${onPostgres ? 'new_events' : 'events'} (type, subject, time, data, actor)
       WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
       SELECT '${type}', '${subject}', ${clock.now()}, '${data}', 'system' FROM numbers`,
    );
    // An event that is appended in the usual way makes the relay look for the others.
    tx.append({ type: 'pet.created', subject: 'pets/2', actor: 'system', data: '{}' });
  });
}
