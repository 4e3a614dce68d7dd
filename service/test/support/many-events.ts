import type { App } from '../../src/app.ts';

/** Adds events to the log in bulk, without the changes that they describe. `data` is JSON. */
export async function appendMany(
  { db, clock }: Pick<App, 'db' | 'clock'>,
  count: number,
  { type = 'pet.updated', subject = 'pets/1', data = '{}' } = {},
): Promise<void> {
  await db.write(async tx => {
    if (tx.engine === 'postgres') {
      await tx.run(
        `INSERT INTO new_events (type, subject, time, data, actor)
         SELECT '${type}', '${subject}', ${clock.now()}, '${data}', 'system' FROM generate_series(1, ${count})`,
      );
    } else {
      // SQLite would store them in one statement as well, but without a seal.
      for (let i = 0; i < count; i++) tx.append({ type, subject, actor: 'system', data });
    }
    // An event that is appended in the usual way makes the relay look for the others.
    tx.append({ type: 'pet.created', subject: 'pets/2', actor: 'system', data: '{}' });
  });
}
