import { Client } from 'pg';
import { type PostgresServer, startPostgres } from '../../scripts/servers/postgres.ts';
import { openPostgres } from '../../service/src/db/postgres.ts';
import { systemClock } from '../../service/src/kit/clock.ts';
import { startService } from '../harness/servers.ts';
import { prepareService } from '../harness/shop.ts';
import { FEW_ROWS, type FilledServer, fillStore, MANY_ROWS, measurePages } from './page-listings.ts';
import type { Row } from './row.ts';

/**
 * The same as `page-cost`, but only latency on one connection counts: it includes the work of the database's processes and no
 * waiting for other requests.
 */
export const postgresPageCost: Row = {
  name: 'postgres-page-cost',
  async measure(generator) {
    await using running = new AsyncDisposableStack();
    // Avoids checkpoints while the million rows are inserted.
    const postgres = await startPostgres({ settings: { max_wal_size: '8GB' } });
    running.defer(() => postgres.stop());
    const many = await fillServer(postgres, MANY_ROWS, running);
    const few = await fillServer(postgres, FEW_ROWS, running);
    // The result is awaited here, because the servers stop on return.
    return await measurePages(generator, { on: 'PostgreSQL: ', byCpu: false }, many, few);
  },
};

async function fillServer(
  postgres: PostgresServer,
  pets: number,
  running: AsyncDisposableStack,
): Promise<FilledServer> {
  const databaseUrl = await postgres.createDatabase();
  const server = running.use(await startService({ databaseUrl }));
  const { apiKey } = await prepareService(server);
  await fill(databaseUrl, pets);
  return { server, apiKey };
}

async function fill(databaseUrl: string, pets: number): Promise<void> {
  const db = await openPostgres({
    url: databaseUrl,
    connections: 2,
    statementSeconds: 600,
    maxQueue: 10,
    clock: systemClock,
  });
  await fillStore(db, pets);
  await db.close();
  const client = new Client(databaseUrl);
  await client.connect();
  // Otherwise autovacuum would do this during a measurement.
  await client.query('VACUUM ANALYZE');
  await client.end();
}
