import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { SECOND } from '../../src/kit/clock.ts';
import { scrape } from '../support/metrics.ts';
import { RawConnection } from '../support/raw-connection.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';

const HEALTH = 'GET /healthz HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n\r\n';

/** Opens connections that send nothing. They end with the server. */
async function openSilently({ origin, app }: TestApp, count: number): Promise<RawConnection[]> {
  const connections: RawConnection[] = [];
  while (connections.length < count) {
    const accepted = once(app.server.server, 'connection');
    connections.push(new RawConnection(origin));
    await accepted;
  }
  return connections;
}

/** The outcome of a new connection: the status of a response, or `closed`. */
async function statusOfNew(origin: string): Promise<number | 'closed'> {
  const connection = new RawConnection(origin);
  connection.send(HEALTH);
  await connection.closed();
  return connection.received === '' ? 'closed' : Number(connection.received.split(' ')[1]);
}

const excessLines = ({ logLines }: TestApp) =>
  logLines()
    .filter(({ msg }) => msg === 'Connections closed: too many')
    .map(({ level, address, limit, closed }) => ({ level, address, limit, closed }));

describe('silent connections of one address', () => {
  it('are limited by PETSTORE_CONNECTIONS_PER_ADDRESS, and one that ends makes room for another', async t => {
    const environment = { PETSTORE_CONNECTIONS_PER_ADDRESS: '3', OPS_PORT: '0' };
    const shop = await startTestApp(t, { environment });
    const [first] = await openSilently(shop, 3);
    assert.equal(await statusOfNew(shop.origin), 'closed');
    first!.send(HEALTH);
    await first!.responses();
    assert.equal(await statusOfNew(shop.origin), 200);
    const metrics = await scrape(shop.metricsUrl);
    assert.equal(metrics.total('petstore_http_excess_connections_total', { limit: 'address' }), 1);
  });

  it('are logged once a second, however many are closed', async t => {
    const shop = await startTestApp(t, { environment: { PETSTORE_CONNECTIONS_PER_ADDRESS: '1' } });
    await openSilently(shop, 1);
    for (let i = 0; i < 5; i++) assert.equal(await statusOfNew(shop.origin), 'closed');
    const line = { level: 40, address: '127.0.0.1', limit: 'address' };
    assert.deepEqual(excessLines(shop), [{ ...line, closed: 1 }]);
    shop.clock.advance(SECOND);
    assert.equal(await statusOfNew(shop.origin), 'closed');
    assert.deepEqual(excessLines(shop).slice(1), [{ ...line, closed: 5 }]);
  });

  it('are not limited when the address is a trusted proxy', async t => {
    const environment = { PETSTORE_CONNECTIONS_PER_ADDRESS: '1', PETSTORE_TRUST_PROXY: '127.0.0.1' };
    const shop = await startTestApp(t, { environment });
    await openSilently(shop, 5);
    assert.equal(await statusOfNew(shop.origin), 200);
  });

  it('end with 408 when they stay silent', async t => {
    const shop = await startTestApp(t, { timeouts: { request: 100, check: 20 } });
    const [silent] = await openSilently(shop, 1);
    const [response] = await silent!.responses();
    assert.equal(response?.status, 408);
  });
});

describe('the connections of all addresses', () => {
  it('are limited by PETSTORE_CONNECTIONS, those of trusted proxies included', async t => {
    const environment = { PETSTORE_CONNECTIONS: '3', PETSTORE_TRUST_PROXY: '127.0.0.1' };
    const shop = await startTestApp(t, { environment });
    await openSilently(shop, 3);
    assert.equal(await statusOfNew(shop.origin), 'closed');
    assert.deepEqual(excessLines(shop), [{ level: 40, address: '127.0.0.1', limit: 'total', closed: 1 }]);
  });
});
