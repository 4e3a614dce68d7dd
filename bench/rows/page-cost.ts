import { openSqlite } from '../../service/src/db/sqlite.ts';
import { systemClock } from '../../service/src/kit/clock.ts';
import { startService } from '../harness/servers.ts';
import { type Access, prepareService } from '../harness/shop.ts';
import { FEW_ROWS, fillStore, MANY_ROWS, measurePages } from './page-listings.ts';
import type { Row } from './row.ts';

export const pageCost: Row = {
  name: 'page-cost',
  async measure(generator) {
    const many = await fillFile(MANY_ROWS);
    const few = await fillFile(FEW_ROWS);
    await using manyServer = await startService(many);
    await using fewServer = await startService(few);
    // The result is awaited here, because the servers stop on return.
    return await measurePages(
      generator,
      { on: '', byCpu: true },
      { server: manyServer, apiKey: many.apiKey },
      { server: fewServer, apiKey: few.apiKey },
    );
  },
};

/** Writes pets into the file of a stopped service. */
async function fillFile(pets: number): Promise<Access & { dataDirectory: string }> {
  const { access, dataDirectory } = await emptyStore();
  const db = openSqlite({ directory: dataDirectory, writeBatch: 1, maxQueue: 1, clock: systemClock });
  await fillStore(db, pets);
  await db.close();
  return { ...access, dataDirectory };
}

async function emptyStore() {
  await using server = await startService();
  return { access: await prepareService(server), dataDirectory: server.dataDirectory };
}
