import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { useShop } from '../support/use-shop.ts';
import { valuesOf } from '../support/values.ts';
import { documentedOperations, responsesOf } from './document.ts';

/** The path parameters of the operations that create something below another resource. */
const above: Record<string, string> = { webhookId: '1' };

describe('what an operation creates', () => {
  const shop = useShop({
    environment: { PETSTORE_WEBHOOKS_ALLOW_PRIVATE: 'true' },
    webhooks: { resolve: async () => [{ address: '127.0.0.1', family: 4 }] },
  });

  it('is read by the operation that its link names, which is not deprecated', async () => {
    const creations = documentedOperations.filter(({ operation }) => '201' in operation.responses);
    assert.equal(creations.length, 7);
    // Those of the contract are in the order of their resources: a pet needs a category, and a test needs a webhook.
    const inOrder = creations.toSorted((a, b) => rank(a.path) - rank(b.path));
    for (const { path, operation } of inOrder) {
      const [, success] = responsesOf(operation).find(([status]) => status === '201')!;
      const { example } = operation.requestBody?.content['application/json'] ?? {};
      const target = path.replace(/\{(\w+)\}/, (_, name: string) => above[name]!);
      const created = await shop.api.post(target, example);
      assert.equal(created.status, 201, created.text);

      const [[name, link] = assert.fail(`${path} has no link`)] = Object.entries(success.links ?? {});
      assert.equal(link.operationId, name);
      const read = documentedOperations.find(({ operation }) => operation.operationId === name)!;
      assert.equal(read.operation.deprecated, undefined, name);
      const values = Object.entries(link.parameters).map(([parameter, expression]): [string, string] => [
        parameter,
        expression === '$response.body#/id'
          ? String(created.body.id)
          : above[expression.replace('$request.path.', '')]!,
      ]);
      const inPath = values.filter(([parameter]) => read.path.includes(`{${parameter}}`));
      const inQuery = values.filter(value => !inPath.includes(value));
      const filled = inPath.reduce(
        (text, [parameter, value]) => text.replace(`{${parameter}}`, value),
        read.path,
      );
      const { status, body } = await shop.api.get(`${filled}?${new URLSearchParams(inQuery)}`);
      assert.equal(status, 200, filled);
      assert.deepEqual(valuesOf([body].flat(), 'id'), [created.body.id], name);
    }
  });
});

function rank(path: string): number {
  return (
    ['/categories', '/pets', '/store/orders', '/keys', '/webhooks'].indexOf(
      path.replace('/{webhookId}/test', ''),
    ) +
    path.length / 100
  );
}
