import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { SECOND } from '../../src/kit/clock.ts';
import { assertKeepsContract } from '../support/contract.ts';
import { failDisk } from '../support/failing-disk.ts';
import { startTestApp } from '../support/test-app.ts';

interface ApiResponse {
  status: number;
  headers: Record<string, string | undefined>;
  code?: string;
}

/**
 * A shop whose disk can be taken away. Requests do not come over the network: a new socket could take the number of a
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
    assertKeepsContract({ method, path, status, headers, text });
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
  it('a write answers 503, reads go on, and afterwards writes work by themselves', async t => {
    const { send, failDisk } = await aShop(t);
    const mend = failDisk('writes');
    const rejected = await send('POST', '/categories', { name: 'Cats' });
    const read = await send('GET', '/categories/1');
    mend();

    assertUnavailable(rejected);
    assert.equal(read.status, 200);
    assert.equal((await send('POST', '/categories', { name: 'Cats' })).status, 201);
    assert.equal((await send('GET', '/categories/2')).status, 200);
  });
});

describe('while the disk fails', () => {
  it('a write answers 503 with true headers and changes nothing; afterwards writes work by themselves', async t => {
    const { send, failDisk } = await aShop(t);
    const before = await send('GET', '/categories/1');
    const mend = failDisk('reads and writes');
    const rejected = await send('POST', '/categories', { name: 'Cats' });
    mend();

    assertUnavailable(rejected);
    const used =
      Number(before.headers['x-ratelimit-remaining']) - Number(rejected.headers['x-ratelimit-remaining']);
    assert.equal(used, 1);
    assert.equal((await send('POST', '/categories', { name: 'Cats' })).status, 201);
    assert.equal((await send('GET', '/categories/1')).status, 200);
  });

  it('every write of a batch is rejected, and none of them is there afterwards', async t => {
    const { app, send, failDisk } = await aShop(t);
    const mend = failDisk('reads and writes');
    const names = Array.from({ length: 20 }, (_, i) => `Category ${i}`);
    const rejected = await Promise.all(names.map(name => send('POST', '/categories', { name })));
    mend();

    rejected.forEach(assertUnavailable);
    assert.deepEqual(await app.db.all('SELECT name FROM categories'), [{ name: 'Dogs' }]);
  });

  it('a read answers 503, and afterwards reads work by themselves', async t => {
    const { send, failDisk } = await aShop(t);
    // The write leaves the readers nothing in memory that is still true.
    await send('POST', '/categories', { name: 'Cats' });
    const mend = failDisk('reads and writes');
    const rejected = [await send('GET', '/categories/1'), await send('GET', '/categories')];
    mend();

    rejected.forEach(assertUnavailable);
    assert.equal((await send('GET', '/categories/1')).status, 200);
  });

  it('a key that has to be looked up is neither accepted nor rejected, and the answer has all headers', async t => {
    const { send, clock, failDisk } = await aShop(t);
    await send('POST', '/categories', { name: 'Cats' });
    clock.turn(2 * SECOND);
    const mend = failDisk('reads and writes');
    const rejected = await send('GET', '/categories/1');
    mend();

    assertUnavailable(rejected);
    assert.equal((await send('GET', '/categories/1')).status, 200);
  });

  it('the process is alive but not ready, and afterwards it is', async t => {
    const { send, failDisk } = await aShop(t);
    await send('POST', '/categories', { name: 'Cats' });
    const mend = failDisk('reads and writes');
    const [alive, ready] = [await send('GET', '/healthz'), await send('GET', '/readyz')];
    mend();

    assert.equal(alive.status, 200);
    assertUnavailable(ready);
    assert.equal((await send('GET', '/readyz')).status, 200);
  });
});
