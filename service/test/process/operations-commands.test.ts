import assert from 'node:assert/strict';
import { appendFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type PostgresServer, startPostgres } from '../../../scripts/servers/postgres.ts';
import { type RedisServer, startRedis } from '../../../scripts/servers/redis.ts';
import type { Client } from '../support/client.ts';
import { buildConsole } from '../support/console-page.ts';
import { Checkout, DocumentedCommands } from '../support/documented-commands.ts';
import { aPet } from '../support/factories.ts';
import { dataDirectory, run, type ServiceProcess, serve } from '../support/service-process.ts';
import { withSession } from '../support/test-store.ts';
import { until } from '../support/until.ts';

const commands = new DocumentedCommands('docs/operations.md', 'README.md');

/** Parts of commands that are tested elsewhere or cannot run here, with the reason. */
const skipped: Record<string, string> = {
  'npx petstore login': 'service/test/cli/readme.test.ts runs it',
  'docker compose up --build': 'needs a container engine; compose.test.ts checks what it starts',
  'docker compose exec service cat': 'needs a container engine',
  'docker compose cp proxy': 'needs a container engine; caddy.test.ts does the same with a Caddy of its own',
  'docker build': 'needs a container engine',
  '/opt/petstore':
    'installs into the system; systemd.test.ts checks the unit, console-not-built.test.ts the build of the console',
  '/etc/petstore/credentials': 'installs into the system; systemd.test.ts checks the drop-in',
  systemctl: 'needs systemd as process 1',
  'journalctl -u petstore': 'needs systemd as process 1',
  kubectl: 'needs a cluster; kubernetes.test.ts checks its input',
  "jq -c 'select": 'needs a program that the project does not install',
  'npm run rolling-restarts': 'takes minutes; mixed-versions.test.ts runs a part of it',
  'check --checkpoint': 'check-history.test.ts runs it, with checkpoints of its store',
  'npm run bench': 'measures',
  'scripts/build.mjs': 'builds the console and the packages in npm run check',
  'main.ts serve': 'is how service-process.ts starts every service',
  'npm start': 'installs, builds and serves; console-not-built.test.ts checks its steps',
  'npm run start:replicas': 'runs in start-replicas.test.ts',
  'npm test ': 'is what runs this test',
  'npm run test:': 'runs tests',
};

/** Dumps have the time of the dump that is restored. */
const dated = { '$(date +%F-%H%M%S)': '2026-11-21-030000' };

const servers = {} as { postgres: PostgresServer; redis: RedisServer };

before(async () => {
  servers.postgres = await startPostgres();
  servers.redis = await startRedis();
});
after(async () => {
  await servers.postgres?.stop();
  await servers.redis?.stop();
});

describe('the documented commands for the embedded store', () => {
  before(buildConsole);

  it('back up a store in use, readable by its owner only, check store and backup, restore it, and make a new one in place of a lost one', async t => {
    const home = dataDirectory(t);
    const checkout = new Checkout(home, { environment: {} });
    const data = join(checkout.directory, 'data');
    const before = await serve(t, data);
    const kept = await aPet(before.api);
    await checkout.run(commands.find('main.ts backup'));
    assert.equal(statSync(join(home, 'petstore-backup.db')).mode & 0o777, 0o600);
    const lost = await aPet(before.api);
    await checkout.run(commands.find('main.ts check\n'));
    await before.end('SIGTERM');

    await checkout.run(commands.find('main.ts restore "$HOME'));
    const service = await serve(t, data);
    const { api } = service;
    await assertServes(service);
    assert.equal((await api.get(`/pets/${kept}`)).status, 200);
    assert.equal((await api.get(`/pets/${lost}`)).status, 404);
    await service.end('SIGTERM');

    for (const name of readdirSync(data)) if (name.startsWith('petstore.db')) rmSync(join(data, name));
    await checkout.run(commands.find('main.ts new-store'));
    await assertServes(await serve(t, data));
  });

  it('manage keys, and use the shop as the README describes', async t => {
    const home = dataDirectory(t);
    const data = join(home, 'checkout/data');
    await run(t, ['seed'], { PETSTORE_DATA: data });
    const service = await serve(t, data);
    const { api } = service;
    const checkout = new Checkout(home, {
      environment: {},
      substitutions: {
        'http://127.0.0.1:8080': service.url,
        // A stream does not end by itself: curl is stopped when an ID has arrived.
        'curl -N "$SHOP/events/stream" -H "X-API-Key: $KEY"': [
          'curl -N --max-time 60 "$SHOP/events/stream" -H "X-API-Key: $KEY" > ../stream &',
          "until grep -s '^id: ' ../stream; do kill -0 $!; sleep 0.05; done",
          'kill $!',
        ].join('\n'),
      },
    });
    const secret = (await checkout.run(commands.find('keys create --name Administrator'))).trim();
    assert.equal((await api.as(secret).get('/keys')).status, 200);
    const link = await checkout.run(commands.find('main.ts sign-in-link'));
    assert.ok(link.startsWith(`${service.url}/console#sign-in=`), link);
    const keys = commands.find('keys create --name "Web shop"');
    assert.match(await checkout.run(`${keys}\n${keys}`), /\tWeb shop\tpro\t/);
    assert.equal(JSON.parse(await checkout.run(commands.find('/pets?limit=3'))).length, 3);
    const blocks = commands.find('PET=$(post /pets');
    const used = await checkout.run(`${blocks}\n${blocks}`);
    assert.match(used, /"Bandit"/);
    assert.match(used, /order\.completed/);
    // Pasted twice, it creates nothing twice, and nothing fails.
    assert.equal((await api.as(secret).get('/pets?name=Bandit')).body.length, 1);
    const variables = 'export SHOP=http://127.0.0.1:8080 KEY=$(cat data/admin.key)';
    assert.match(
      await checkout.run(`${variables}\n${commands.find('curl -N "$SHOP/events/stream"')}`),
      /^id: \d+$/m,
    );
  });
});

/** Set up as in compose.yaml: `petstore` is the administrator, and owns the database. */
describe('the documented commands for compose.yaml', () => {
  it('back up PostgreSQL and restore it under the same name', async t => {
    const { postgres, redis } = servers;
    const data = dataDirectory(t);
    const settings = { DATABASE_URL: await postgres.createDatabase('petstore'), REDIS_URL: redis.url };
    const before = await serve(t, data, settings);
    const checkout = new Checkout(dataDirectory(t), {
      environment: {
        PGHOST: '127.0.0.1',
        PGPORT: String(postgres.port),
        DATABASE_URL: settings.DATABASE_URL,
        SERVICE_PID: String(before.child.pid),
      },
      substitutions: dated,
      // The commands for containers run here; the test itself restarts the service.
      docker: `
        case "$*" in
          'compose stop service') kill "$SERVICE_PID"; while kill -0 "$SERVICE_PID"; do sleep 0.05; done ;;
          'compose up --wait') ;;
          'compose run --rm -T service '*) shift 5; exec node_modules/.bin/node service/src/main.ts "$@" ;;
          'compose exec -T postgres '*) shift 4; exec "$@" ;;
          *) echo "docker $* is not known here" >&2; exit 1 ;;
        esac`,
    });
    const kept = await aPet(before.api);
    const dump = commands.find('postgres pg_dump -U petstore');
    await checkout.run(dump);
    await assert.rejects(checkout.run(`export PGPORT=1\n${dump}`), /Connection refused/);
    const lost = await aPet(before.api);
    const cursor = await cursorOfCreation(before.api, lost);
    const restored = await checkout.run(commands.find('ALTER DATABASE petstore RENAME TO petstore_before'));
    for (const pets of [2, 1]) assert.match(restored, new RegExp(`^ +${pets} \\| +0 \\| +\\d+$`, 'm'));
    assert.match(restored, /^The event log continues after event \d+ with event 1000000001, /m);

    const service = await serve(t, data, settings);
    const { api } = service;
    await assertServes(service);
    assert.equal((await api.get(`/pets/${kept}`)).status, 200);
    assert.equal((await api.get(`/pets/${lost}`)).status, 404);
    await assertContinues(api, cursor);
  });
});

/** Set up as the documentation describes: an administrator `postgres`, and an unprivileged user who owns the database. */
describe('the documented commands for PostgreSQL', () => {
  before(async () => {
    const { postgres } = servers;
    appendFileSync(join(postgres.directory, 'data/pg_hba.conf'), 'host all all 127.0.0.1/32 trust\n');
    await execute(postgres.url, 'CREATE ROLE postgres SUPERUSER LOGIN', 'SELECT pg_reload_conf()');
    // The name that this test needs for another user is that of the administrator of compose.yaml, with databases.
    await execute(
      urlFor(postgres, 'postgres', 'postgres'),
      'DROP DATABASE IF EXISTS petstore',
      'DROP DATABASE IF EXISTS petstore_before',
      'ALTER ROLE petstore RENAME TO initdb',
    );
  });

  it('set it up, move the embedded store there, back it up and restore it', async t => {
    const { postgres, redis } = servers;
    const home = dataDirectory(t);
    const data = join(home, 'checkout/data');
    await run(t, ['seed'], { PETSTORE_DATA: data });
    const url = urlFor(postgres, 'petstore', 'petstore');
    const restoredUrl = urlFor(postgres, 'petstore', 'petstore_restored');
    const checkout = new Checkout(home, {
      environment: {
        PGHOST: '127.0.0.1',
        PGPORT: String(postgres.port),
        PGUSER: 'postgres',
        DATABASE_URL: url,
        RESTORED_URL: restoredUrl,
        REDIS_URL: redis.url,
      },
      substitutions: {
        ...dated,
        'postgres://petstore:secret@db.example/petstore': url,
        'postgres://petstore:secret@db.example/rehearsal': urlFor(postgres, 'petstore', 'rehearsal'),
      },
    });
    await checkout.run(commands.find('CREATE DATABASE petstore OWNER petstore ENCODING'));
    await execute(urlFor(postgres, 'postgres', 'postgres'), 'CREATE DATABASE rehearsal OWNER petstore');
    await checkout.run(`unset DATABASE_URL\n${commands.find('main.ts backup')}`);
    for (const part of ['~/rehearsal', 'step 4'])
      assert.match(await checkout.run(commands.find(part)), /^pets +\| +40 \| +40$/m);

    const settings = { DATABASE_URL: url, REDIS_URL: redis.url };
    const before = await serve(t, data, settings);
    const kept = await aPet(before.api);
    const dump = commands.find('pg_dump --format=custom --file=');
    await checkout.run(dump);
    const unreachable = 'export DATABASE_URL=postgres://127.0.0.1:1/petstore';
    await assert.rejects(checkout.run(`${unreachable}\n${dump}`), /Connection refused/);
    const lost = await aPet(before.api);
    const counts = await checkout.run(commands.find('--no-owner --dbname='));
    assert.match(counts, /^ +41 \| +\d+ \| +\d+$/m);
    assert.match(counts, /^\d\tAdministrator\t/m);
    assert.match(counts, /^The event log continues after event \d+ with event 1000000001, /m);
    const cursor = await cursorOfCreation(before.api, lost);
    await before.end('SIGTERM');

    const service = await serve(t, data, { ...settings, DATABASE_URL: restoredUrl });
    const { api } = service;
    await assertServes(service);
    assert.equal((await api.get(`/pets/${kept}`)).status, 200);
    assert.equal((await api.get(`/pets/${lost}`)).status, 404);
    await assertContinues(api, cursor);
    await checkout.run(commands.find('redis-cli -u "$REDIS_URL" FLUSHDB'));
    // The next version can change the schema, which only the owner may do.
    await execute(restoredUrl, 'ALTER TABLE pets ADD COLUMN tried INTEGER', 'CREATE TABLE tried ()');
  });
});

it('every command of docs/operations.md and README.md is run by a test above, or has a reason in this file why not', () => {
  assert.deepEqual(commands.unused(Object.keys(skipped)), []);
});

/** The cursor after the event of a new pet, which has no number until the relay has given it one. */
async function cursorOfCreation(api: Client, petId: number): Promise<string> {
  const { body } = await api.get(`/events?subject=pets/${petId}&cursor=0&wait=30`);
  return body[0].id;
}

/** Fails unless the log continues in a new range, and the cursor of a lost event is rejected. */
async function assertContinues(api: Client, cursor: string): Promise<void> {
  assert.equal((await api.get(`/events?cursor=${cursor}`)).body.code, 'log_restored');
  assert.equal((await api.get('/events?type=log.restored')).body[0].id, '1000000001');
}

/** Waits until the service has no problem: at its start, Redis may not respond in time, and is connected again soon. */
async function assertServes({ api }: ServiceProcess): Promise<void> {
  await until('the service is ok', async () => (await api.get('/readyz')).body.status === 'ok');
}

function urlFor({ port }: PostgresServer, user: string, database: string): string {
  return `postgres://${user}@127.0.0.1:${port}/${database}`;
}

function execute(url: string, ...statements: string[]): Promise<void> {
  return withSession(url, async session => {
    for (const statement of statements) await session.query(statement);
  });
}
