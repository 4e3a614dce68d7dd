import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { documentedOperations } from '../contract/document.ts';
import { assertNone } from '../support/values.ts';
import { deviceCommands } from './commands/device.ts';
import { eventCommands } from './commands/events.ts';
import { keyCommands } from './commands/keys.ts';
import { useCommandRuns } from './commands/runs.ts';
import { shopCommands } from './commands/shop.ts';
import { webhookCommands } from './commands/webhooks.ts';

/** Operations without a command, and why. */
const exceptions: Record<string, string> = {
  'GET /pets/{petId}': 'deprecated: `pets get` uses its successor',
  'PUT /pets/{petId}': 'replaces all fields: `pets update` changes those that are given',
  'PUT /categories/{categoryId}': 'as for pets',
  'PUT /store/orders/{orderId}': 'as for pets',
  'PUT /webhooks/{webhookId}': 'as for pets',
  'PATCH /store/inventory/{petId}': 'does the same as PUT',
  'GET /account/plan-requests/{requestId}': '`account` shows the newest request',
  'GET /plan-requests/{requestId}': '`keys requests` shows all fields',
  'GET /healthz': 'for probes: `status` also reports problems',
  'GET /openapi.yaml': 'for programs',
  'GET /openapi.json': 'for programs',
};

type SharedOptions = typeof import('../../../cli/src/shared-options.ts');

describe('the commands of petstore', () => {
  const runs = useCommandRuns();
  const { petstore, used } = runs;

  describe('with --json', () => {
    shopCommands(runs);
    keyCommands(runs);
    eventCommands(runs);
    webhookCommands(runs);
    deviceCommands(runs);

    it('was run with each command', () => {
      // These have tests of their own: one speaks a protocol, and the other one prints what the service sends.
      used.add('mcp').add('api');
      assert.deepEqual([...used].toSorted(), runs.definitions.map(({ name }) => name).toSorted());
    });
  });

  describe('in their definitions', () => {
    it('call each operation of the contract, with few exceptions', () => {
      const called = runs.definitions.flatMap(({ operations = [], overview }) => [
        ...operations,
        ...(overview?.operations ?? []),
      ]);
      const all = documentedOperations.map(({ method, path }) => `${method} ${path}`);
      assert.deepEqual([...new Set([...called, ...Object.keys(exceptions)])].toSorted(), all.toSorted());
      assertNone(called, name => name in exceptions);
    });

    it('have no parameter with the name of an option of all commands', async () => {
      const { shared, implied } = await petstore.load<SharedOptions>('shared-options.js');
      const reserved = [...Object.keys(shared), ...Object.keys(implied)];
      for (const { name, arguments: operands, options } of runs.definitions)
        for (const key of Object.keys({ ...operands, ...options }))
          assert.ok(!reserved.includes(key), `${name}: ${key}`);
    });

    it('have examples that start with the command', () => {
      for (const { name, examples } of runs.definitions) {
        assert.ok(examples.length > 0, name);
        for (const example of examples) assert.ok(`${example} `.startsWith(`petstore ${name} `), example);
      }
    });
  });
});
