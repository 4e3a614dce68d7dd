import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { pino } from 'pino';
import { KeyRing } from '../../src/access/api-keys/key-ring.ts';
import { MemoryCounters } from '../../src/counters/memory.ts';
import { DatabaseUnavailable } from '../../src/db/database.ts';
import { Drain } from '../../src/http/drain.ts';
import { EventStreams } from '../../src/http/event-streams.ts';
import { Idempotency } from '../../src/http/idempotency.ts';
import { ContractDocument } from '../../src/http/openapi/document.ts';
import { OutageLog } from '../../src/http/outage-log.ts';
import { RequestLog } from '../../src/http/request-log.ts';
import { buildServer } from '../../src/http/server.ts';
import { TrustedProxies } from '../../src/kit/client-address.ts';
import { SECOND } from '../../src/kit/clock.ts';
import { defineRoute } from '../../src/routes/define-route.ts';
import type { ApiResponse } from '../support/client.ts';
import { assertMatchesContract } from '../support/contract.ts';
import { Intervals } from '../support/intervals.ts';
import { assertRejected } from '../support/rejection.ts';
import { startTestApp } from '../support/test-app.ts';

interface Outcome {
  response: ApiResponse;
  /** The logged warnings and errors. */
  logged: { requestId: string; err: Record<string, string>; reason?: string }[];
}

/** A service with one operation, which fails with a given error. Returns a function that calls it. */
async function aFaultyService(t: TestContext): Promise<(fault: unknown) => Promise<Outcome>> {
  const { app, adminKey, clock } = await startTestApp(t);
  let fault: unknown;
  let lines: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  const log = pino({ base: null }, destination);
  const server = buildServer({
    routes: [
      defineRoute({
        method: 'GET',
        path: '/fault',
        operationId: 'fail',
        tag: 'Service',
        summary: 'Fails',
        description: 'Fails with a given error.',
        scope: 'pets:read',
        success: { status: 200, description: 'Never.' },
        errors: [],
        handler: () => Promise.reject(fault),
      }),
    ],
    db: app.db,
    keyRing: new KeyRing(app.db, app.config.banRules),
    allowedOrigins: { has: () => false },
    keyLimits: app.keyLimits,
    contract: new ContractDocument(async () => ({ servers: [], paths: {} }), '/'),
    idempotency: new Idempotency(app.db),
    streams: new EventStreams({
      mostPerKey: 1,
      findCaller: () => undefined,
      findStoredCaller: () => undefined,
      onDrop: () => {},
    }),
    counters: new MemoryCounters(),
    drain: new Drain(),
    clock,
    trustedProxies: new TrustedProxies([]),
    log,
    outageLog: new OutageLog(log, clock),
    requestLog: new RequestLog(destination, true),
    keepSunset: false,
    connections: { total: 10, perAddress: 10 },
    redeemTicket: async () => undefined,
    isDemo: false,
    onExcessConnection: () => {},
  });
  return async cause => {
    fault = cause;
    lines = [];
    const injected = await server.inject({ url: '/fault', headers: { 'x-api-key': adminKey } });
    const { statusCode: status, payload: text } = injected;
    const response = {
      status,
      headers: injected.headers as ApiResponse['headers'],
      text,
      body: JSON.parse(text),
    };
    assertMatchesContract({ method: 'GET', path: '/fault', ...response });
    return { response, logged: lines.filter(({ level }) => Number(level) >= 40) as Outcome['logged'] };
  };
}

describe('a fault of the service', () => {
  it('is reported only with the request ID, and logged with that ID and its stack', async t => {
    const fail = await aFaultyService(t);
    const { response, logged } = await fail(new TypeError('the secret recipe is not a function'));
    const message = assertRejected(response, 500, 'internal_error');
    const requestId = response.headers['x-request-id'];
    assert.equal(message, `The service failed; its log has the reason under request ID ${requestId}`);
    assert.doesNotMatch(response.text, /recipe|TypeError|faults\.test|node_modules/);

    assert.equal(logged.length, 1);
    const { requestId: loggedId, err } = logged[0]!;
    assert.equal(loggedId, requestId);
    assert.deepEqual([err.type, err.message], ['TypeError', 'the secret recipe is not a function']);
    assert.match(err.stack!, /faults\.test\.ts/);
  });

  it('has the same response for any thrown value, even for one that looks like an error for clients', async t => {
    const fail = await aFaultyService(t);
    const rejection = Object.assign(new Error('not for clients'), { statusCode: 400, code: 'E_OTHER' });
    for (const fault of ['text', 42, null, undefined, {}, rejection]) {
      const { response, logged } = await fail(fault);
      assertRejected(response, 500, 'internal_error');
      assert.equal(logged.length, 1);
    }
  });

  it('has correct rate-limit headers', async t => {
    const { headers } = (await (await aFaultyService(t))(new Error('any'))).response;
    assert.deepEqual(
      [headers['x-ratelimit-limit'], Number(headers['x-ratelimit-remaining'])],
      ['1000000', 999_999],
    );
  });
});

describe('a database that cannot be reached', () => {
  it('is reported as unavailable, with a Retry-After, and logged with its cause', async t => {
    const fail = await aFaultyService(t);
    const { response, logged } = await fail(new DatabaseUnavailable(new Error('disk I/O error')));
    assertRejected(response, 503, 'service_unavailable');
    assert.equal(response.headers['retry-after'], '1');
    assert.equal(response.headers['x-should-retry'], 'true');
    assert.doesNotMatch(response.text, /disk/);
    assert.deepEqual(
      logged.map(({ reason }) => reason),
      ['disk I/O error'],
    );
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
