import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startPgbouncer } from '../../../scripts/servers/pgbouncer.ts';
import { aCategory } from '../support/factories.ts';
import {
  aShop,
  assertUnavailable,
  postgresOfThisFile,
  recovery,
  respondedInTime,
  rowsOf,
} from './shop-on-postgres.ts';

const holder = postgresOfThisFile({ durable: true });

describe('a database that becomes unavailable behind pgbouncer', () => {
  it('causes 503 within the time limits, and is used again once it is back', async t => {
    const { postgres } = holder;
    const databaseUrl = await postgres.createDatabase();
    const pgbouncer = await startPgbouncer({ serverUrl: postgres.url, mode: 'transaction', poolSize: 4 });
    t.after(() => pgbouncer.stop());
    const { api } = await aShop(t, pgbouncer.through(databaseUrl));
    await aCategory(api);

    await postgres.kill();
    const responses = await respondedInTime([
      ...Array.from({ length: 10 }, () => api.get('/categories')),
      ...Array.from({ length: 10 }, () => api.post('/categories', { name: 'Never' })),
    ]);
    for (const response of responses) assertUnavailable(response);

    await postgres.start();
    await recovery(() => api.post('/categories', { name: 'Back' }));
    await recovery(() => api.get('/categories'));
    assert.deepEqual(await rowsOf(databaseUrl, "SELECT name FROM categories WHERE name = 'Never'"), []);
  });
});
