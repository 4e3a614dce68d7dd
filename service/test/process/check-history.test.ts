import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Client, type QueryResult } from 'pg';
import { verifyPostgres } from '../../src/db/check-postgres.ts';
import * as eventLog from '../../src/events/event-log/event-log.ts';
import { DAY } from '../../src/kit/clock.ts';
import { aCategory } from '../support/factories.ts';
import { continueLogOf } from '../support/restored-log.ts';
import { dataDirectory, run, serve } from '../support/service-process.ts';
import { startTestApp } from '../support/test-app.ts';
import { administer, onPostgres, storeForProcesses } from '../support/test-store.ts';

describe('the command check', () => {
  it('compares checkpoints, and names the first event that differs, also after expiry and a restore', async t => {
    const shop = await startTestApp(t);
    const { app, api, clock, store } = shop;
    await aCategory(api);
    await app.db.numberEvents();
    clock.advance(DAY);
    await aCategory(api);
    await aCategory(api, { name: 'Third' });
    await app.db.numberEvents();
    const noted = (await api.get('/events/checkpoint')).body;
    await eventLog.expire(app.db, clock.now());
    await continueLogOf(shop);
    await aCategory(api);
    await app.db.numberEvents();
    const later = (await api.get('/events/checkpoint')).body;
    const check = (...ofCheckpoints: { id: string; seal: string }[]) =>
      run(
        t,
        ['check', ...ofCheckpoints.flatMap(({ id, seal }) => ['--checkpoint', `${id}:${seal}`])],
        store.environment,
      );
    const intact = await check(noted, later);
    assert.deepEqual([intact.code, intact.stderr], [0, '']);
    assert.match(
      intact.stdout,
      new RegExp(
        `The history in .+ is as it was written, and has the checkpoints ${noted.id}, ${later.id}\n$`,
      ),
    );

    const other = await check({ id: noted.id, seal: 'a'.repeat(64) });
    assert.equal(other.code, 1);
    assert.match(
      other.stderr,
      /was changed after it was written:\n.*Checkpoint \d+: the seal is [0-9a-f]{64}/,
    );

    const oldest = (await app.db.get<{ id: number }>('SELECT min(id) AS id FROM events'))!.id;
    assert.ok(oldest > 1, 'some events have expired');
    await app.db.run("UPDATE events SET actor = 'keys/9' WHERE id = ?", [Number(later.id)]);
    const changed = await check();
    assert.equal(changed.code, 1);
    assert.match(
      changed.stderr,
      new RegExp(`was changed after it was written:\n.*Event ${later.id} was changed\n$`),
    );
    if (app.config.databaseUrl === undefined) {
      const file = join(store.directory, 'backup.db');
      const backup = await run(t, ['backup', file], store.environment);
      const restore = await run(t, ['restore', file], { PETSTORE_DATA: dataDirectory(t) });
      for (const { code, stdout, stderr } of [backup, restore]) {
        assert.equal(code, 0, 'a rewritten history prevents no backup and no restore');
        assert.match(
          stderr,
          new RegExp(`^Warning: The history in .*\n.*Event ${later.id} was changed\n`, 'm'),
        );
        assert.match(stdout, /categories [1-9]\d*, /, 'its rows are counted');
      }
    }
    await app.db.run('DELETE FROM events WHERE id = ?', [oldest]);
    const { stderr } = await check();
    assert.match(stderr, new RegExp(`Event ${oldest} was removed\n`));
  });

  it('compares checkpoints with the file that it names, also where DATABASE_URL is set', {
    skip: onPostgres,
  }, async t => {
    const { store } = await startTestApp(t);
    const file = join(store.directory, 'backup.db');
    assert.equal((await run(t, ['backup', file], store.environment)).code, 0);
    const { code, stderr } = await run(t, ['check', file, '--checkpoint', `1:${'a'.repeat(64)}`], {
      DATABASE_URL: 'postgres://petstore@127.0.0.1:1/petstore',
    });
    assert.equal(code, 1);
    assert.match(stderr, /backup\.db was changed after it was written:\n.*Checkpoint 1: the seal is/);
  });

  // `db/check-store` has the same test for the embedded store.
  it('verifies the log as it is at one instant while events are appended, without a time limit', {
    skip: !onPostgres,
  }, async t => {
    const { app, api } = await startTestApp(t);
    await aCategory(api);
    await app.db.numberEvents();
    const databaseUrl = app.config.databaseUrl!;
    const name = new URL(databaseUrl).pathname.slice(1);
    await administer(client => client.query(`ALTER DATABASE ${name} SET statement_timeout = '1min'`));
    const query = Client.prototype.query as (...args: unknown[]) => Promise<QueryResult>;
    const limits: unknown[] = [];
    const append = async () => {
      await aCategory(api, { name: 'Meanwhile' });
      await app.db.numberEvents();
    };
    t.mock.method(Client.prototype, 'query', async function (this: Client, ...args: unknown[]) {
      const { text } = args[0] as { text?: string };
      if (text?.includes('AS newest')) {
        await append();
        limits.push(...(await query.call(this, 'SHOW statement_timeout')).rows);
      }
      return query.apply(this, args);
    });
    assert.deepEqual(await verifyPostgres(databaseUrl, []), []);
    assert.deepEqual(limits, [{ statement_timeout: '0' }]);
  });

  for (const checkpoint of ['1', `1:${'a'.repeat(63)}`, `x:${'a'.repeat(64)}`]) {
    it(`rejects the checkpoint ${checkpoint}`, async t => {
      const { code, stderr } = await run(t, ['check', '--checkpoint', checkpoint], {});
      assert.equal(code, 2);
      assert.match(stderr, /^--checkpoint must be the number of an event, a colon and a seal of 64/);
    });
  }
});

it('the log of a service that stops has a checkpoint of all its events, also of those that it appends while it stops', async t => {
  const { directory, environment } = await storeForProcesses(t);
  const service = await serve(t, directory, environment);
  await aCategory(service.api);
  assert.equal((await service.api.as('psk_unknown').get('/keys')).status, 401);
  const { stdout } = await service.end('SIGTERM');
  const lines = stdout.split('\n').filter(line => line.includes('Checkpoint of the event log'));
  assert.equal(lines.length, 1);
  const { checkpoint } = JSON.parse(lines[0]!);
  const again = await serve(t, directory, environment);
  const { body } = await again.api.get('/history');
  assert.deepEqual([body[0].type, body[0].eventId], ['access.refused', String(checkpoint.id)]);
  const newest = (await again.api.get('/events/checkpoint')).body;
  assert.deepEqual([newest.id, newest.seal], [String(checkpoint.id), checkpoint.seal]);
});
