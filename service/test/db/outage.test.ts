import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { SECOND } from '../../src/kit/clock.ts';
import { assertMatchesContract } from '../support/contract.ts';
import { failDisk } from '../support/failing-disk.ts';
import { startTestApp } from '../support/test-app.ts';

interface ApiResponse {
  status: number;
  headers: Record<string, string | undefined>;
  code?: string;
}

/**
 * A shop whose disk can fail. Requests are not sent over the network, because a new socket could take the number of a
 * file that is being exchanged.
 */
async function aShop(t: TestContext) {
  const { app, adminKey, directory, clock } = await startTestApp(t);
  const send = async (method: 'GET' | 'POST', path: string, payload?: object): Promise<ApiResponse> => {
    const response = await app.server.inject({
      method,
      url: path,
      headers: { 'x-api-key': adminKey },
      ...(payload && { payload }),
    });
    const headers = response.headers as ApiResponse['headers'];
    const { statusCode: status, payload: text } = response;
    assertMatchesContract({ method, path, status, headers, text });
    return { status, headers, ...(status >= 400 && { code: JSON.parse(text).code }) };
  };
  assert.equal((await send('POST', '/categories', { name: 'Dogs' })).status, 201);
  return {
    app,
    clock,
    send,
    failDisk: (failing: 'writes' | 'reads and writes') => failDisk(directory, failing),
  };
}

function assertUnavailable({ status, code, headers }: ApiResponse): void {
  assert.deepEqual([status, code], [503, 'service_unavailable']);
  assert.match(String(headers['retry-after']), /^[1-9]\d*$/);
  for (const name of ['limit', 'remaining', 'reset']) {
    assert.match(String(headers[`x-ratelimit-${name}`]), /^\d+$/);
  }
}

describe('while the disk is full', () => {
  it('a write gets 503 and reads work; writes recover by themselves', async t => {
    const { send, failDisk } = await aShop(t);
    const repair = failDisk('writes');
    const rejected = await send('POST', '/categories', { name: 'Cats' });
    const read = await send('GET', '/categories/1');
    repair();

    assertUnavailable(rejected);
    assert.equal(read.status, 200);
    assert.equal((await send('POST', '/categories', { name: 'Cats' })).status, 201);
    assert.equal((await send('GET', '/categories/2')).status, 200);
  });
});

describe('while the disk fails', () => {
  it('a write gets 503 with correct headers and changes nothing; writes recover by themselves', async t => {
    const { send, failDisk } = await aShop(t);
    const before = await send('GET', '/categories/1');
    const repair = failDisk('reads and writes');
    const rejected = await send('POST', '/categories', { name: 'Cats' });
    repair();

    assertUnavailable(rejected);
    const used =
      Number(before.headers['x-ratelimit-remaining']) - Number(rejected.headers['x-ratelimit-remaining']);
    assert.equal(used, 1);
    assert.equal((await send('POST', '/categories', { name: 'Cats' })).status, 201);
    assert.equal((await send('GET', '/categories/1')).status, 200);
  });

  it('every write of a batch is rejected, and none of them is stored', async t => {
    const { app, send, failDisk } = await aShop(t);
    const repair = failDisk('reads and writes');
    const names = Array.from({ length: 20 }, (_, i) => `Category ${i}`);
    const rejected = await Promise.all(names.map(name => send('POST', '/categories', { name })));
    repair();

    rejected.forEach(assertUnavailable);
    assert.deepEqual(await app.db.all('SELECT name FROM categories'), [{ name: 'Dogs' }]);
  });

  it('a read gets 503; reads recover by themselves', async t => {
    const { send, failDisk } = await aShop(t);
    // The write invalidates everything that the readers have cached.
    await send('POST', '/categories', { name: 'Cats' });
    const repair = failDisk('reads and writes');
    const rejected = [await send('GET', '/categories/1'), await send('GET', '/categories')];
    repair();

    rejected.forEach(assertUnavailable);
    assert.equal((await send('GET', '/categories/1')).status, 200);
  });

  it('a key that is not in memory gets 503 with all headers, not 401', async t => {
    const { send, clock, failDisk } = await aShop(t);
    await send('POST', '/categories', { name: 'Cats' });
    clock.advance(2 * SECOND);
    const repair = failDisk('reads and writes');
    const rejected = await send('GET', '/categories/1');
    repair();

    assertUnavailable(rejected);
    assert.equal((await send('GET', '/categories/1')).status, 200);
  });

  it('the process is healthy but not ready; it becomes ready again by itself', async t => {
    const { send, failDisk } = await aShop(t);
    await send('POST', '/categories', { name: 'Cats' });
    const repair = failDisk('reads and writes');
    const [health, ready] = [await send('GET', '/healthz'), await send('GET', '/readyz')];
    repair();

    assert.equal(health.status, 200);
    assertUnavailable(ready);
    assert.equal((await send('GET', '/readyz')).status, 200);
  });
});
