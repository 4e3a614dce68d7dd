import assert from 'node:assert/strict';
import { it } from 'node:test';
import { RequestLog, type RequestRecord } from './request-log.ts';

it('the log of requests keeps at most 200 user agents in memory, however many clients send', t => {
  const record: RequestRecord = {
    requestId: 'a',
    method: 'GET',
    path: '/pets',
    route: '/pets',
    status: 200,
    code: null,
    bytes: 2,
    durationMs: 1,
    keyId: 1,
    address: '127.0.0.1',
    userAgent: null,
    client: null,
    traceId: null,
  };
  const { mock } = t.mock.method(Map.prototype, 'set');
  const log = new RequestLog({ writeBytes: () => {} }, true);
  let most = 0;
  for (let i = 0; i < 1_000; i++) {
    log.write({ ...record, userAgent: `client/${i}` });
    most = Math.max(most, (mock.calls.at(-1)!.this as Map<string, string>).size);
  }
  assert.equal(most, 200);
});
