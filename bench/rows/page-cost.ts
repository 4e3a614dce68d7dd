import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { startService } from '../harness/servers.ts';
import { type Access, prepareService } from '../harness/shop.ts';
import { FEW, MANY, measurePages, nameAt, STRIDE } from './page-listings.ts';
import type { Row } from './row.ts';

export const pageCost: Row = {
  name: 'page-cost',
  async measure(generator, effort) {
    const many = await fillStore(MANY);
    const few = await fillStore(FEW);
    await using manyServer = await startService(many);
    await using fewServer = await startService(few);
    // Waited for here: on return the servers end.
    return await measurePages(
      generator,
      effort,
      { on: '', byCpu: true },
      { server: manyServer, apiKey: many.apiKey },
      { server: fewServer, apiKey: few.apiKey },
    );
  },
};

/** Writes the pets into the file of a stopped service: a million through the API would take longer than the bench. */
async function fillStore(pets: number): Promise<Access & { dataDirectory: string }> {
  const { access, dataDirectory } = await emptyStore();
  const db = new BetterSqlite3(join(dataDirectory, 'petstore.db'));
  const insert = db.prepare(
    'INSERT INTO pets (name, name_key, category_id, status, quantity) VALUES (?, ?, ?, ?, ?)',
  );
  db.transaction(() => {
    for (let i = 0; i < pets; i++) {
      const name = nameAt((i * STRIDE) % pets);
      const [status, quantity] = i % 2 === 0 ? ['sold', 0] : ['available', 1];
      insert.run(name, name.toLowerCase(), access.categoryId, status, quantity);
    }
  })();
  db.close();
  return { ...access, dataDirectory };
}

async function emptyStore() {
  await using server = await startService();
  return { access: await prepareService(server), dataDirectory: server.dataDirectory };
}
