import { Client } from 'pg';
import { type PostgresServer, startPostgres } from '../../scripts/servers/postgres.ts';
import { startService } from '../harness/servers.ts';
import { prepareService } from '../harness/shop.ts';
import { DIGITS, FEW, type FilledServer, MANY, measurePages, NAME, STRIDE } from './page-listings.ts';
import type { Row } from './row.ts';

/**
 * The same as `page-cost`, judged by latency alone, at one connection: that has in it what the database's processes do,
 * and nothing of waiting for others.
 */
export const postgresPageCost: Row = {
  name: 'postgres-page-cost',
  async measure(generator, effort) {
    await using running = new AsyncDisposableStack();
    // So that the million is not written out while it comes.
    const postgres = await startPostgres({ settings: { max_wal_size: '8GB' } });
    running.defer(() => postgres.stop());
    const many = await fillServer(postgres, MANY, running);
    const few = await fillServer(postgres, FEW, running);
    // Waited for here: on return the servers end.
    return await measurePages(generator, effort, { on: 'PostgreSQL: ', byCpu: false }, many, few);
  },
};

async function fillServer(
  postgres: PostgresServer,
  pets: number,
  running: AsyncDisposableStack,
): Promise<FilledServer> {
  const databaseUrl = await postgres.createDatabase();
  const server = running.use(await startService({ databaseUrl }));
  const { apiKey, categoryId } = await prepareService(server);
  await fill(databaseUrl, pets, categoryId);
  return { server, apiKey };
}

async function fill(databaseUrl: string, pets: number, categoryId: number): Promise<void> {
  const client = new Client(databaseUrl);
  await client.connect();
  await client.query(
    `INSERT INTO pets (name, name_key, category_id, status, quantity)
     SELECT name, lower(name), $3::bigint, CASE WHEN i % 2 = 0 THEN 'sold' ELSE 'available' END, i % 2
     FROM (SELECT i, $4 || lpad((i * $2 % $1)::text, $5, '0') AS name FROM generate_series(0, $1::bigint - 1) AS i) AS named`,
    [pets, STRIDE, categoryId, NAME, DIGITS],
  );
  // Otherwise autovacuum would do it while something is measured.
  await client.query('VACUUM ANALYZE pets');
  await client.end();
}
