import { Client } from 'pg';
import { startPostgres } from '../../scripts/servers/postgres.ts';
import { openPostgres } from '../../service/src/db/postgres.ts';
import { systemClock } from '../../service/src/kit/clock.ts';
import { fillPets } from '../search/fill-store.ts';
import { measureSearches } from '../search/measure-searches.ts';
import { namesOf, withLongestNames } from '../search/names.ts';
import type { Row } from './row.ts';

const PETS = 1_000_000;

/** The time includes the way to the database and back. */
export const postgresSearch: Row = {
  name: 'postgres-search',
  async measure() {
    // Avoids checkpoints while the million rows are inserted.
    const postgres = await startPostgres({ settings: { max_wal_size: '8GB' } });
    await using running = new AsyncDisposableStack();
    running.defer(() => postgres.stop());
    const url = await postgres.createDatabase();
    const options = { url, connections: 2, statementSeconds: 600, maxQueue: 100, clock: systemClock };
    const db = await openPostgres(options);
    running.defer(() => db.close());
    await fillPets(db, withLongestNames(namesOf(PETS)));
    // Otherwise autovacuum would do this during a measurement.
    const client = new Client(url);
    await client.connect();
    await client.query('VACUUM ANALYZE');
    await client.end();
    return await measureSearches('PostgreSQL', db);
  },
};
