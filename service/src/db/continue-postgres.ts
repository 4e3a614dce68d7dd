import { type ContinueOptions, nextRange, type Restoration } from './event-ranges.ts';
import { LIFT_LIMITS, migratePostgres } from './migrate-postgres.ts';
import { valuesOf } from './new-events.ts';
import { asStart, rejectNoShop, withConnection } from './postgres-command.ts';
import { LOCK } from './postgres-locks.ts';
import { CONTINUE, RELAY_LOCK } from './postgres-relay.ts';
import { statementOf } from './postgres-statements.ts';

/**
 * Does the same as `continueEmbedded` for a PostgreSQL database. Events of the backup that had no number yet get theirs in the new
 * range: before the restore they may have had others. Rejects with UnusableStore or StoreUnavailable; if the connection breaks at
 * the commit, it may have been done.
 */
export function continuePostgres(databaseUrl: string, options: ContinueOptions): Promise<Restoration> {
  return withConnection(databaseUrl, 'continue-log', client =>
    asStart(databaseUrl, async () => {
      await rejectNoShop(client, databaseUrl, 'restore the backup first');
      await migratePostgres(client);
      await client.query('BEGIN');
      await client.query(LIFT_LIMITS);
      await client.query(LOCK, [RELAY_LOCK]);
      const { rows: log } = await client.query<{ last_id: string }>('SELECT last_id FROM event_log');
      const { events, ...restoration } = nextRange(Number(log[0]!.last_id), options);
      const [{ id, ...event }] = events;
      // Without a name: a pooler's connection may retain the statement that an earlier run prepared.
      await client.query(statementOf(CONTINUE, [id, ...valuesOf(event), options.now], 'custom'));
      await client.query('COMMIT');
      return restoration;
    }),
  );
}
