import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startTestApp } from '../support/test-app.ts';

const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

describe('the transaction of a batch', () => {
  for (const [what, environment] of [
    [
      'recorded by a trace',
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1', OTEL_EXPORTER_OTLP_TIMEOUT: '100' },
    ],
    ['not recorded', {}],
  ] as const) {
    it(`runs alone, and that of a single operation does not: ${what}`, async t => {
      const { api, app } = await startTestApp(t, { environment });
      const write = t.mock.method(app.db, 'write');
      const operation = { method: 'POST', path: '/categories', body: { name: 'Dogs' } };
      const headers = { traceparent, 'idempotency-key': 'import-1' };
      assert.equal((await api.post('/batch', { operations: [operation] }, headers)).status, 200);
      assert.equal((await api.post('/categories', { name: 'Cats' }, { traceparent })).status, 201);
      assert.equal(
        (await api.post('/batch', { operations: [{ ...operation, body: { name: 'Fish' } }] })).status,
        200,
      );
      const alone = write.mock.calls.filter(call => call.arguments[1]?.alone);
      assert.equal(alone.length, 2);
    });
  }
});
