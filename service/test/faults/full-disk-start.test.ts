import assert from 'node:assert/strict';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { Client } from '../support/client.ts';
import { assertRejected } from '../support/rejection.ts';
import { assertExplained, run, type ServiceProcess, serve } from '../support/service-process.ts';
import { type SmallDisk, smallDisk } from '../support/small-disk.ts';
import { until } from '../support/until.ts';

const DEGRADED = {
  status: 'degraded',
  message: 'The disk of the store is full: writes get 503, reads are served',
};

/** Long enough that the service must write it to the file of the store and not only to its log. */
const description = 'x'.repeat(1_000);

interface Shop {
  disk: SmallDisk;
  start(): Promise<{ service: ServiceProcess; api: Client }>;
}

/** A disk, and a function that starts a service whose store is on it. */
function aShopOnSmallDisk(t: TestContext): Shop {
  const disk = smallDisk(4 * 2 ** 20);
  const started: ServiceProcess[] = [];
  // Before the disk is removed; t.after() would run in the order of its calls.
  t.after(async () => {
    await Promise.all(started.map(({ end }) => end('SIGKILL')));
    disk.remove();
  });
  const start = async () => {
    const service = await serve(t, disk.directory);
    started.push(service);
    const api = new Client(service.url, service.adminKey);
    t.after(() => api.close());
    return { service, api };
  };
  return { disk, start };
}

/** Creates categories until the disk is full. Returns the number of those that were acknowledged. */
async function fillWithCategories(api: Client, prefix: string): Promise<number> {
  for (let created = 0; ; created++) {
    const response = await api.post('/categories', { name: `${prefix} ${created}`, description });
    if (response.status === 201) continue;
    assertRejected(response, 503, 'service_unavailable');
    return created;
  }
}

async function countCategories(api: Client): Promise<number> {
  const { headers } = await api.get('/categories?limit=1&count=true');
  return Number(headers['x-total-count']);
}

describe('the embedded service after a kill on a full disk', () => {
  it('starts, serves what was acknowledged, is degraded, and writes again when there is space', async t => {
    const { disk, start } = aShopOnSmallDisk(t);
    const before = await start();
    await before.api.post('/categories', { name: 'First', description });
    disk.fill();
    let created = 1 + (await fillWithCategories(before.api, 'Before'));
    await before.service.end('SIGKILL');
    disk.fill();

    const { api, service } = await start();
    assert.equal(await countCategories(api), created);
    // The start may have moved the log of the killed process to the file of the store, and the log then has room.
    created += await fillWithCategories(api, 'After');
    const { status, body } = await api.get('/readyz');
    assert.deepEqual([status, body], [200, DEGRADED]);
    disk.makeRoom();
    const roomSince = performance.now();
    assert.equal((await api.post('/categories', { name: 'Space', description })).status, 201);
    await until('ready', async () => (await api.get('/readyz')).body.status === 'ok');
    t.diagnostic(
      `${created} acknowledged writes are stored; ready ${Math.round(performance.now() - roomSince)} ms after there is space`,
    );
    assert.equal(await countCategories(api), created + 1);
    assert.equal((await service.end('SIGTERM')).code, 0);
  });

  it('exits 1 with a message if the demo shop does not fit into an empty store', async t => {
    const { disk, start } = aShopOnSmallDisk(t);
    const { service } = await start();
    await service.end('SIGKILL');
    disk.fill();
    const ended = await run(t, ['serve', '--demo'], {
      PORT: '0',
      PETSTORE_DATA: disk.directory,
      LOG_LEVEL: 'silent',
    });
    assertExplained(ended, /^The disk of the store is full; nothing was changed\. .* \(.+\)\n$/, 1);
  });

  it('exits 1 with a message about space if it cannot start, so that its supervisor tries again', async t => {
    const { disk, start } = aShopOnSmallDisk(t);
    const { api, service } = await start();
    await api.post('/categories', { name: 'First', description });
    await service.end('SIGKILL');
    const index = join(disk.directory, 'petstore.db-shm');
    assert.ok(existsSync(index));
    rmSync(index);
    disk.fill();
    const { code, stderr } = await run(t, ['serve'], { PORT: '0', PETSTORE_DATA: disk.directory });
    assert.match(
      stderr,
      /^The store in .* cannot be opened, because its disk has no space left .*: free space/,
    );
    assert.doesNotMatch(stderr, /\n {4}at /);
    assert.equal(code, 1);
    disk.makeRoom();
    const again = await start();
    assert.equal(await countCategories(again.api), 1);
  });

  it('exits 1 with the same message on a disk that was full before the first start', async t => {
    const { disk } = aShopOnSmallDisk(t);
    disk.fill();
    const { code, stderr } = await run(t, ['serve'], { PORT: '0', PETSTORE_DATA: disk.directory });
    assert.match(stderr, /no space left/);
    assert.equal(code, 1);
  });
});
