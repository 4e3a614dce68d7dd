import assert from 'node:assert/strict';
import { it } from 'node:test';
import { definedOperations, exampleBody } from '../support/route-requests.ts';
import { webhookShop } from './webhook-shop.ts';

const changing = definedOperations.filter(({ route }) => route.tag === 'Webhooks' && route.method !== 'GET');

it('the dispatcher looks for work after every operation that changes a webhook or its deliveries, before the response', async t => {
  const shop = await webhookShop(t);
  const { api, receiver } = shop;
  assert.ok(changing.length >= 8);
  for (const operation of changing) {
    const { path } = await shop.webhook();
    const { body: delivery } = await api.post(`${path}/test`);
    const wake = t.mock.method(shop.shop.app.dispatcher, 'wake');
    const { route, template } = operation;
    const example = exampleBody(operation);
    const body = example && 'url' in example ? { ...example, url: receiver.url } : example;
    const target = template.replace('/webhooks/{webhookId}', path).replace('{deliveryId}', delivery.id);
    const { status, text } = await api.send(route.method, target, { body });
    assert.equal(status, route.success.status, text);
    assert.ok(wake.mock.callCount() > 0, `${route.method} ${template}`);
    wake.mock.restore();
  }
});
