import assert from 'node:assert/strict';
import { it } from 'node:test';
import { RequestLog, type RequestRecord } from './request-log.ts';

const record: RequestRecord = {
  requestId: 'a',
  method: 'GET',
  path: '/pets',
  route: '/pets',
  status: 200,
  code: null,
  bytes: 2,
  durationMs: 1_234.567,
  keyId: 1,
  address: '127.0.0.1',
  userAgent: null,
  client: null,
  traceId: null,
};

it('the log of requests has their durations in milliseconds', () => {
  const lines: string[] = [];
  const writeBytes = (bytes: Buffer, length: number) => void lines.push(bytes.toString('utf8', 0, length));
  new RequestLog({ writeBytes }, true).write(record);
  assert.deepEqual(
    lines.map(line => JSON.parse(line).durationMs),
    [1_234.567],
  );
});

it('the log of requests keeps at most 200 user agents in memory, however many clients send', t => {
  const { mock } = t.mock.method(Map.prototype, 'set');
  const log = new RequestLog({ writeBytes: () => {} }, true);
  let most = 0;
  for (let i = 0; i < 1_000; i++) {
    log.write({ ...record, userAgent: `client/${i}` });
    most = Math.max(most, (mock.calls.at(-1)!.this as Map<string, string>).size);
  }
  assert.equal(most, 200);
});
