import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parseEnv } from 'node:util';
import { parse } from 'yaml';
import { startPrimaryProxy, startServiceProxy } from '../../../scripts/servers/haproxy.ts';
import { readConfig } from '../../src/config.ts';
import { describedRoutes } from '../../src/described-routes.ts';
import { HOUR, SECOND } from '../../src/kit/clock.ts';
import { composeFile, readProjectFile as read, root } from '../support/deploy-files.ts';
import { listenLocally } from '../support/local-server.ts';
import { inTime } from '../support/until.ts';
import { useShop } from '../support/use-shop.ts';
import { valuesOf } from '../support/values.ts';

function found(file: string, pattern: RegExp): string {
  const [, text] = pattern.exec(read(file)) ?? [];
  assert.ok(text, `${file} has no ${pattern}`);
  return text;
}

const dockerfile = read('Dockerfile').replaceAll('\\\n', ' ');
const image = parseEnv(/^ENV (.+)$/m.exec(dockerfile)![1]!.replaceAll(' ', '\n'));
const compose = composeFile();
const kubernetes = (file: string) => parse(read(`deploy/kubernetes/${file}`), { version: '1.1' });
const pod = kubernetes('deployment.yaml').spec.template;
const [container] = pod.spec.containers;
const policy = kubernetes('network-policy.yaml').spec;

const operation = (id: string) => describedRoutes.find(({ operationId }) => operationId === id)!;

const shop = useShop({ environment: { OPS_PORT: '0' }, alone: false });
const shopPort = () => new URL(shop.origin).port;

describe('the checks of the deployments', () => {
  it('of the image succeed while the service runs, and fail otherwise', async () => {
    const [program, ...args] = JSON.parse(/^HEALTHCHECK .* CMD (.+)$/m.exec(dockerfile)![1]!) as string[];
    assert.equal(program, 'node');
    const statusOf = async (PORT: string) => {
      const [code] = await once(spawn(process.execPath, args, { env: { PORT } }), 'close');
      return code;
    };
    assert.deepEqual([await statusOf(shopPort()), await statusOf('1')], [0, 1]);
    // Not whether it is ready: during an outage of the database, Docker would report all replicas as unhealthy.
    assert.ok(args.at(-1)!.includes(`path: '${operation('getHealth').path}'`));
  });

  it('restart a replica of Kubernetes as late as the image reports that it fails, also at its start', () => {
    const { periodSeconds, timeoutSeconds, failureThreshold } = container.livenessProbe;
    const startSeconds = container.startupProbe.periodSeconds * container.startupProbe.failureThreshold;
    const [, ...numbers] = /=(\d+)s --timeout=(\d+)s --start-period=(\d+)s --retries=(\d+)/.exec(dockerfile)!;
    assert.deepEqual([periodSeconds, timeoutSeconds, startSeconds, failureThreshold], numbers.map(Number));
  });

  it('before a proxy sends requests ask whether a replica is ready', () => {
    const { proxy } = compose.services;
    const url = new URL(proxy.healthcheck.test.at(-1));
    assert.ok(proxy.ports.some((published: string) => published.endsWith(`:${url.port}`)));
    assert.match(read('deploy/Caddyfile'), new RegExp(`^:${url.port} \\{$`, 'm'));
    const [, method, path] = /^\thttp-check send meth (\w+) uri (\S+)/m.exec(read('deploy/haproxy.cfg'))!;
    for (const checked of [url.pathname, path]) assert.equal(checked, operation('getReadiness').path);
    assert.equal(method, operation('getReadiness').method);
  });

  it('of Kubernetes reach the port of the API, and Prometheus that of the metrics', () => {
    for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
      const { path, port } = container[probe].httpGet;
      assert.equal(port, 'http', probe);
      const name = probe === 'readinessProbe' ? 'getReadiness' : 'getHealth';
      assert.equal(path, operation(name).path, probe);
    }
    const [{ port, targetPort }] = kubernetes('service.yaml').spec.ports;
    assert.deepEqual([port, targetPort], [80, 'http']);
    const reached = policy.ingress.map(
      ({ from, ports }: { from: { namespaceSelector: { matchLabels: object } }[]; ports: object[] }) => [
        Object.values(from[0]!.namespaceSelector.matchLabels)[0],
        ...ports.flatMap(Object.values),
      ],
    );
    assert.deepEqual(reached, [
      ['ingress-nginx', 'http'],
      ['monitoring', 'metrics'],
    ]);
    const { annotations } = pod.metadata;
    assert.equal(annotations['prometheus.io/scrape'], 'true');
    assert.equal(annotations['prometheus.io/path'], new URL(shop.metricsUrl!).pathname);
  });
});

describe('the proxies', () => {
  const seconds = (name: string) =>
    Number(found('deploy/haproxy.cfg', new RegExp(`^\\ttimeout ${name} (\\d+)s$`, 'm')));

  it('close idle connections before the service does, which would break a request', () => {
    const { keepAliveTimeout } = shop.app.server.server;
    const kept = [seconds('http-keep-alive'), Number(found('deploy/Caddyfile', /^\t+keepalive (\d+)s$/m))];
    for (const time of kept) assert.ok(time * SECOND < keepAliveTimeout, `${time} s`);
  });

  it('wait for a long poll, and for a request for as long as the service', () => {
    const { maximum } = operation('listEvents').query!.properties!.wait as { maximum: number };
    for (const name of ['client', 'server']) assert.ok(seconds(name) > maximum, name);
    assert.ok(seconds('http-request') * SECOND > shop.app.server.server.requestTimeout);
  });

  it('keep a connection to PostgreSQL that is silent during the longest statement', () => {
    const { databaseTimeoutSeconds: longest } = readConfig({ PETSTORE_DATABASE_TIMEOUT_SECONDS: '3600' });
    for (const name of ['client', 'server']) {
      const hours = found('deploy/haproxy-postgresql.cfg', new RegExp(`^\\ttimeout ${name} (\\d+)h$`, 'm'));
      assert.ok(Number(hours) * HOUR > longest * SECOND, name);
    }
  });

  it('notice within a second that a server has stopped, and use it again as soon as it responds', () => {
    for (const file of ['deploy/haproxy.cfg', 'deploy/haproxy-postgresql.cfg']) {
      const check = /^\tdefault-server check inter (\d+)ms fall (\d+) rise 1\b/m.exec(read(file))!;
      assert.ok(Number(check[1]) * Number(check[2]) <= SECOND, file);
    }
  });

  it('wait longer for a check than its interval, the default, because all replicas of an overloaded machine respond late', () => {
    const interval = Number(found('deploy/haproxy.cfg', /^\tdefault-server check inter (\d+)ms/m));
    assert.ok(seconds('check') * SECOND > interval);
  });

  it('replace the X-Forwarded-For of a client, here in HAProxy', async t => {
    const replica = createHttpServer(({ headers }, response) => response.end(headers['x-forwarded-for']));
    const port = Number(new URL(await listenLocally(t, replica)).port);
    const haproxy = await startServiceProxy([port, port]);
    t.after(haproxy.stop);
    const response = await fetch(`http://127.0.0.1:${haproxy.port}`, {
      headers: { 'x-forwarded-for': '203.0.113.9' },
    });
    assert.equal(await response.text(), '127.0.0.1');
  });

  it('send a request to the other replica when one accepts no connection, here in HAProxy', async t => {
    const start = async () => {
      // HAProxy keeps no connection that a request could use instead of a new one.
      const server = createHttpServer((_, response) => response.setHeader('Connection', 'close').end());
      return { server, port: Number(new URL(await listenLocally(t, server)).port) };
    };
    const [living, ending] = [await start(), await start()];
    const checked = new Promise<void>(resolve => {
      ending.server.on('request', ({ headers }) => headers.host === 'petstore' && resolve());
    });
    const haproxy = await startServiceProxy([living.port, ending.port]);
    t.after(haproxy.stop);
    await inTime('the check of HAProxy', checked);
    ending.server.close();
    const send = (method: string) => fetch(`http://127.0.0.1:${haproxy.port}`, { method });
    const responses = await Promise.all(Array.from({ length: 10 }, (_, i) => send(i % 2 ? 'POST' : 'GET')));
    assert.deepEqual(valuesOf(responses, 'status'), Array(10).fill(200));
  });

  it('send a request only once when a replica ends its connection, here in HAProxy', async t => {
    let orders = 0;
    const replica = createHttpServer((request, response) => {
      if (request.method === 'GET') return void response.end();
      orders++;
      request.resume().on('end', () => response.destroy());
    });
    const port = Number(new URL(await listenLocally(t, replica)).port);
    const haproxy = await startServiceProxy([port, port]);
    t.after(haproxy.stop);
    const { status } = await fetch(`http://127.0.0.1:${haproxy.port}`, { method: 'POST', body: 'an order' });
    assert.deepEqual([status, orders], [502, 1]);
  });

  it('close the connections to a former primary of PostgreSQL', async t => {
    let primary = 0;
    const serve = async (place: number) => {
      // A server reports this at its login. A check that finds something else lasts until the connection ends.
      const report = (socket: Socket) =>
        place === primary ? socket.write('in_hot_standby\0off\0') : socket.end('in_hot_standby\0on\0');
      const server = createServer(socket =>
        socket.on('error', () => {}).on('data', () => void report(socket)),
      );
      return Number(new URL(await listenLocally(t, server)).port);
    };
    const proxy = await startPrimaryProxy([await serve(0), await serve(1)]);
    t.after(() => proxy.stop());
    const client = connect(proxy.port, '127.0.0.1').on('error', () => {});
    t.after(() => client.destroy());
    const closed = new Promise(resolve => client.on('close', resolve));
    client.write('a query');
    await once(client, 'data');
    client.resume();
    primary = 1;
    await inTime('the end of the connection', closed);
  });
});

describe('the values that the files of a deployment share', () => {
  it('are the directories in which the service writes, in compose.yaml', () => {
    const { volumes, tmpfs } = compose.services.service;
    assert.deepEqual(
      volumes.map((volume: string) => volume.split(':')[1]),
      [image.PETSTORE_DATA],
    );
    assert.ok(tmpfs.some((directory: string) => image.NODE_COMPILE_CACHE!.startsWith(`${directory}/`)));
  });

  it('are the directories in which the images of others keep their data and temporary files, in compose.yaml', () => {
    const { proxy, postgres, redis } = compose.services;
    const used = [proxy.volumes.at(-1), ...postgres.volumes, ...redis.volumes];
    const directories = ['/data', '/var/lib/postgresql/data', '/data'];
    const names = ['proxy-data', 'postgres-data', 'redis-data'];
    assert.deepEqual(
      used,
      names.map((name, i) => `${name}:${directories[i]}`),
    );
    for (const name of names) assert.ok(name in compose.volumes, name);
    assert.deepEqual([proxy.tmpfs, postgres.tmpfs], [['/config'], ['/tmp', '/run/postgresql']]);
  });

  it('are the ports of the metrics', () => {
    const { OPS_PORT } = compose.services.service.environment;
    assert.equal(OPS_PORT, parseEnv(read('deploy/kubernetes/settings.env')).OPS_PORT);
    assert.deepEqual(found('Dockerfile', /^EXPOSE (.+)$/m).split(' '), [image.PORT, OPS_PORT]);
    const port = found('deploy/prometheus/prometheus.yaml', /OPS_PORT=(\d+)/);
    const [{ static_configs }] = parse(read('deploy/prometheus/prometheus.yaml')).scrape_configs;
    for (const target of static_configs[0].targets) assert.equal(target.split(':')[1], port, target);
    assert.doesNotMatch(read('deploy/prometheus/alerts.yaml'), /\bjob\s*[=~!]/, 'jobs may have any name');
  });

  it('are names, passwords and ports of the databases', () => {
    // Each variable has its own name as its value.
    const { services } = parse(read('compose.yaml').replaceAll(/\$\{(\w+):-[^}]*\}/g, '$1'));
    const { service, postgres, redis } = services;
    const database = new URL(service.environment.DATABASE_URL);
    const { POSTGRES_USER: user, POSTGRES_PASSWORD: password, POSTGRES_DB: name } = postgres.environment;
    assert.deepEqual([database.username, database.password, database.pathname], [user, password, `/${name}`]);
    // Over TCP, which the server does not use while it initializes the database.
    const reached = ['CMD', 'pg_isready', '-h', '127.0.0.1', '-U', user, '-d', name];
    assert.deepEqual(postgres.healthcheck.test, reached);
    const counters = new URL(service.environment.REDIS_URL);
    assert.deepEqual(
      [redis.command[2], redis.environment.REDISCLI_AUTH],
      [counters.password, counters.password],
    );
    assert.deepEqual([database.hostname, counters.hostname], ['postgres', 'redis']);
    const ports = policy.egress.flatMap(({ ports }: { ports: { port: number }[] }) =>
      ports.map(({ port }) => String(port)),
    );
    // DNS over UDP and TCP, the databases, and webhooks.
    assert.deepEqual(ports, ['53', '53', database.port, counters.port, '443']);
    const [names] = policy.egress[0].to;
    assert.deepEqual(names.namespaceSelector.matchLabels, { 'kubernetes.io/metadata.name': 'kube-system' });
    assert.deepEqual(names.podSelector.matchLabels, { 'k8s-app': 'kube-dns' });
  });

  it('are the Secret and its keys, which the documentation creates', () => {
    const { secret } = pod.spec.volumes.find(({ name }: { name: string }) => name === 'secrets');
    const [, name, files] = /`kubectl create secret generic (\S+) (.+)`/.exec(read('docs/operations.md'))!;
    assert.equal(secret.secretName, name);
    const keys = secret.items.map(({ key }: { key: string }) => `--from-file=${key}`);
    assert.equal(keys.join(' '), files);
  });

  it('are directories and user of the unit for systemd, and the exit code of a setting that the service rejects', () => {
    const unit = 'deploy/systemd/petstore.service';
    const directive = (name: string) => found(unit, new RegExp(`^${name}=(.+)$`, 'm'));
    const state = directive('StateDirectory');
    assert.equal(directive('Environment=PETSTORE_DATA'), `%S/${state}`);
    assert.equal(directive('Environment=NODE_COMPILE_CACHE'), `%C/${directive('CacheDirectory')}`);
    const user = directive('User');
    assert.equal(directive('Group'), user);
    assert.match(
      read('deploy/systemd/sysusers.conf'),
      new RegExp(`^u ${user} - ".*" /var/lib/${state}$`, 'm'),
    );
    const service = [join(root, 'service/src/main.ts'), 'serve'];
    const { status } = spawnSync(process.execPath, service, { env: { PORT: 'none' } });
    assert.equal(directive('RestartPreventExitStatus'), String(status));
  });

  it('are files and paths that exist', () => {
    const rules: string[] = parse(read('deploy/prometheus/prometheus.yaml')).rule_files;
    for (const rule of rules)
      assert.equal(globSync(rule, { cwd: join(root, 'deploy/prometheus') }).length, 1, rule);
    const [caddyfile] = compose.services.proxy.volumes[0].split(':');
    assert.equal(readConfig(image).port, Number(found(caddyfile, /dynamic a service (\d+) /)));
  });
});
