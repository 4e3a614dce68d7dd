import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { DatabaseUnavailable } from '../../src/db/database.ts';
import { SECOND } from '../../src/kit/clock.ts';
import { provokeBan, usedUp } from '../access/provoke-ban.ts';
import { EventReader } from '../support/event-reader.ts';
import { aCategory, namesOfNewWords, petsIn } from '../support/factories.ts';
import { Intervals } from '../support/intervals.ts';
import { assertRejected } from '../support/rejection.ts';
import { startTestApp } from '../support/test-app.ts';
import { until } from '../support/until.ts';
import { useShop } from '../support/use-shop.ts';
import { valuesOf } from '../support/values.ts';

const shop = useShop();

/** Sends a request whose read of the store throws a value. Returns the response, and the logged warnings and errors. */
async function fail(t: TestContext, fault: unknown) {
  const before = shop.logLines().length;
  // A sweep can read pets at the same time.
  shop.expectErrors(/"Request failed"|"Sweep of search words failed/);
  const { db } = shop.app;
  const all = db.all.bind(db);
  const { mock } = t.mock.method(db, 'all', (...query: Parameters<typeof all>) =>
    query[0].includes('FROM pets') ? Promise.reject(fault) : all(...query),
  );
  const response = await shop.api.get('/pets').finally(() => mock.restore());
  const logged = shop
    .logLines()
    .slice(before)
    .filter(({ level, requestId }) => Number(level) >= 40 && requestId);
  return {
    response,
    logged: logged as { requestId: string; err: Record<string, string>; reason?: string }[],
  };
}

describe('a fault of the service', () => {
  it('is reported only with the request ID, and logged with that ID and its stack', async t => {
    const { response, logged } = await fail(t, new TypeError('the secret recipe is not a function'));
    const message = assertRejected(response, 500, 'internal_error');
    const requestId = response.headers['x-request-id'];
    assert.equal(message, `The service failed; its log has the reason under request ID ${requestId}`);
    assert.doesNotMatch(response.text, /recipe|TypeError|faults\.test|node_modules/);
    assert.equal(response.headers['x-ratelimit-limit'], '1000000');
    assert.ok(Number(response.headers['x-ratelimit-remaining']) < 1_000_000);

    assert.equal(logged.length, 1);
    const { requestId: loggedId, err } = logged[0]!;
    assert.equal(loggedId, requestId);
    assert.deepEqual([err.type, err.message], ['TypeError', 'the secret recipe is not a function']);
    assert.match(err.stack!, /faults\.test\.ts/);
  });

  it('has the same response for any thrown value, even for one that looks like an error for clients', async t => {
    const rejection = Object.assign(new Error('not for clients'), { statusCode: 400, code: 'E_OTHER' });
    for (const fault of ['text', 42, null, undefined, {}, rejection]) {
      const { response, logged } = await fail(t, fault);
      assertRejected(response, 500, 'internal_error');
      assert.equal(logged.length, 1);
    }
  });
});

describe('a database that cannot be reached', () => {
  it('is reported as unavailable, with a Retry-After, and logged with its cause', async t => {
    const { response, logged } = await fail(t, new DatabaseUnavailable(new Error('disk I/O error')));
    assertRejected(response, 503, 'service_unavailable');
    assert.equal(response.headers['retry-after'], '1');
    assert.equal(response.headers['x-should-retry'], 'true');
    assert.doesNotMatch(response.text, /disk/);
    assert.deepEqual(valuesOf(logged, 'reason'), ['disk I/O error']);
  });

  it('is logged again a second later or at the end, with the number of all requests that failed', async t => {
    const intervals = Intervals.watch(t);
    const { api, app, clock, logLines } = await startTestApp(t);
    // Only requests fail: tasks of the service would be counted in the same lines.
    const all = app.db.all.bind(app.db);
    t.mock.method(app.db, 'all', (...query: Parameters<typeof all>) =>
      / categories /.test(query[0])
        ? Promise.reject(new DatabaseUnavailable(new Error('no route')))
        : all(...query),
    );
    const fail = async (requests: number) => {
      for (let i = 0; i < requests; i++)
        assertRejected(await api.get('/categories'), 503, 'service_unavailable');
    };
    const failures = () =>
      logLines()
        .filter(({ msg }) => msg === 'Database unavailable')
        .map(({ failed }) => (failed as Record<string, number>).requests);
    await fail(3);
    assert.deepEqual(failures(), [1]);
    clock.advance(SECOND);
    intervals.run(SECOND);
    assert.deepEqual(failures(), [1, 2]);
    await fail(4);
    t.mock.restoreAll();
    await app.close();
    assert.deepEqual(failures(), [1, 2, 4]);
  });
});

it('an outage in which the event of a ban is lost is logged like others', async t => {
  const intervals = Intervals.watch(t);
  const shop = await startTestApp(t, { shared: false });
  const banned = await usedUp(shop);
  const { mock } = t.mock.method(shop.app.db, 'write', () =>
    Promise.reject(new DatabaseUnavailable(new Error('no route'))),
  );
  await provokeBan(shop, banned);
  mock.restore();
  // Sweeps have failed as well.
  shop.clock.advance(SECOND);
  intervals.run(SECOND);
  const outages = shop.logLines().filter(({ msg }) => msg === 'Database unavailable');
  assert.deepEqual(
    outages.flatMap(({ failed }) => (failed as Record<string, number>).bans ?? []),
    [1],
  );
});

it('each task of the service that fails is logged with its stack', async t => {
  const intervals = Intervals.hold(t);
  const shop = await startTestApp(t, { shared: false });
  const { app, api, logLines, expectErrors } = shop;
  expectErrors(/TypeError: planted/);
  const messages = () =>
    logLines()
      .filter(({ err }) => (err as { message: string } | undefined)?.message === 'planted')
      .map(({ msg }) => msg);
  /** Runs a task while these methods of the store fail, until its message is logged. */
  const fail = async (methods: readonly ('all' | 'get' | 'write')[], run: () => unknown, message: string) => {
    const planted = methods.map(method =>
      t.mock.method(app.db, method, () => Promise.reject(new TypeError('planted'))),
    );
    await run();
    await until(message, () => messages().includes(message));
    for (const { mock } of planted) mock.restore();
  };
  const banned = await usedUp(shop);
  const reader = await EventReader.open(shop.origin, shop.adminKey);
  const categoryId = await aCategory(api);
  const write = app.db.write.bind(app.db);
  const leaveWords = () => {
    t.mock.method(app.db, 'write', write, { times: 1 });
    return petsIn(api, categoryId, namesOfNewWords);
  };

  await fail(['write'], () => provokeBan(shop, banned), 'The event of a ban could not be stored');
  await fail(['write'], () => intervals.run(800), 'Counts could not be stored; trying again');
  await fail(['write'], leaveWords, 'Words of a batch could not be stored; a sweep stores them');
  await fail(['all'], () => intervals.run(SECOND), 'Events could not be read; trying again');
  await fail(['all'], () => app.dispatcher.look(true), 'Webhooks could not be served; trying again');
  await fail(['all', 'get', 'write'], () => app.sweeper.run(), 'Sweep of events failed; trying again');
  const fromPage = () => api.as(undefined).get('/healthz', { origin: 'https://shop.example' });
  await fail(['get'], fromPage, 'An origin could not be read; using the last result');
  await reader.close();
  await fail(['get'], () => app.close(), 'The checkpoint of the event log could not be read');
});
