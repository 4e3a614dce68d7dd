import assert from 'node:assert/strict';
import { it } from 'node:test';
import { formatDateTime } from '../../../src/kit/dates.ts';
import { Receiver } from '../../events/receiver.ts';
import { inTime, until } from '../../support/until.ts';
import type { CommandRuns } from './runs.ts';

export function webhookCommands({ json, one, shop, petstore }: CommandRuns): void {
  it('manages webhooks and their deliveries', async t => {
    const endpoint = await Receiver.start();
    t.after(() => endpoint.close());
    const created = await one('webhooks', 'create', endpoint.url, '--type', 'order.*', '--disabled');
    assert.match(String(created.secret), /^whsec_/);
    const id = `${created.id}`;
    const { secret: _, ...shown } = created;
    assert.deepEqual(await json('webhooks', 'list'), [shown]);
    assert.deepEqual(await json('webhooks', 'get', id), [shown]);
    const rotated = await one('webhooks', 'rotate', id, '--grace', '0');
    assert.notEqual(rotated.secret, created.secret);
    assert.equal(rotated.earlierSecretExpiresAt, formatDateTime(shop.clock.now()));
    assert.equal((await one('webhooks', 'update', id, '--all-types')).types, null);
    assert.equal(created.enabled, false);
    for (const enabled of [true, false, true])
      assert.equal((await one('webhooks', 'update', id, '--enabled', `${enabled}`)).enabled, enabled);
    // The command reads the webhook, because the endpoint has not responded yet.
    const reads = () =>
      shop.logLines().filter(({ method, route }) => method === 'GET' && route === '/webhooks/{webhookId}')
        .length;
    const earlier = reads();
    endpoint.hold();
    const tested = one('webhooks', 'test', id, '--wait');
    await until('the command has read the webhook', () => reads() > earlier);
    endpoint.release();
    const delivery = `${(await tested).id}`;
    const deliveries = await json('webhooks', 'deliveries', id);
    assert.ok(deliveries.some(({ type }) => type === 'webhook.test'));
    assert.equal((await one('webhooks', 'delivery', id, delivery)).type, 'webhook.test');
    assert.equal((await json('webhooks', 'redeliver', id, delivery))[0]!.id, Number(delivery));
    endpoint.respondWith(500);
    assert.equal((await one('webhooks', 'replay', id, '--from', '0')).webhookId, created.id);
    const failingSince = async () => (await one('webhooks', 'list')).failingSince;
    await until('a delivery has failed', async () => (await failingSince()) !== null);
    const since = formatDateTime(shop.clock.now());
    assert.equal(await failingSince(), since);
    const table = await petstore.run(['webhooks', 'list']);
    assert.equal(table.stdout.trimEnd().split('\t').at(-1), since);
    assert.deepEqual(await json('webhooks', 'delete', id), [{ id: created.id, outcome: 'deleted' }]);
  });

  it('ends the wait for the response of an endpoint on Ctrl-C', async t => {
    const endpoint = await Receiver.start();
    t.after(() => endpoint.close());
    endpoint.hold();
    const id = `${(await one('webhooks', 'create', endpoint.url)).id}`;
    const stop = new AbortController();
    const words = ['webhooks', 'test', id, '--wait'];
    const ended = petstore.run(words, {}, { signal: stop.signal });
    await endpoint.has(1);
    stop.abort();
    const { code, stdout } = await inTime('the end', ended);
    // A command that waits until the attempt has failed prints the delivery.
    assert.deepEqual([code, stdout], [130, '']);
    endpoint.release();
    // `json` would count the last request of the command above, which may be logged only now.
    assert.equal((await petstore.run(['webhooks', 'delete', id])).code, 0);
  });
}
