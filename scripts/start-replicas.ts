// Starts several replicas of the service behind one address, with their own PostgreSQL and Redis, to try them out:
// npm run start:replicas -- 4
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError, readConfig } from '../service/src/config.ts';
import { Balancer } from './servers/balancer.ts';
import { type PostgresServer, startPostgres } from './servers/postgres.ts';
import { type RedisServer, startRedis } from './servers/redis.ts';
import { Replica } from './servers/replica.ts';
import { Supervisor } from './servers/supervisor.ts';

const MAX_REPLICAS = 16;

/** The arguments or settings are wrong. Only the message is printed. */
class UsageError extends Error {}

const stop = Promise.withResolvers<void>();
let isStopping = false;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  // The signal can arrive twice: the terminal sends Ctrl-C to npm and this process, and npm forwards it.
  process.on(signal, () => {
    if (!isStopping) print('Stopping …');
    isStopping = true;
    stop.resolve();
  });
}

try {
  await run(readCount(process.argv.slice(2)));
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = error instanceof UsageError || error instanceof ConfigError ? 2 : 1;
}

function readCount([text = '2', ...more]: string[]): number {
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= 1 && count <= MAX_REPLICAS && more.length === 0) return count;
  throw new UsageError(
    `npm run start:replicas -- N expects the number of replicas, a whole number from 1 to ${MAX_REPLICAS} ` +
      `(2 if left out), but was given "${[text, ...more].join(' ')}"`,
  );
}

/** Runs until a signal arrives, and then stops everything in reverse order. */
async function run(count: number): Promise<void> {
  const balancer = new Balancer();
  try {
    const url = await listen(balancer);
    await using backends = new AsyncDisposableStack();
    const [postgres, redis] = await startBackends(backends);
    const { replicas, keyFile } = await startReplicas(count, postgres, redis, backends);
    const supervisor = new Supervisor(replicas, print);
    backends.defer(() => supervisor.stop());
    await Promise.all(replicas.map(replica => balancer.add(replica.port)));
    if (!isStopping) print(welcome({ url, replicas, postgres, redis, keyFile }));
    await stop.promise;
  } finally {
    await balancer.close();
  }
}

/** Listens before anything else starts, so that a port that is in use is reported at once. */
async function listen(balancer: Balancer): Promise<string> {
  const { HOST, PORT } = process.env;
  const { host, port } = readConfig({ HOST, PORT });
  try {
    return await balancer.listen(host, port);
  } catch (error) {
    throw new UsageError(`Cannot listen on port ${port} of ${host}: ${(error as Error).message}. Set PORT`);
  }
}

async function startBackends(backends: AsyncDisposableStack): Promise<[PostgresServer, RedisServer]> {
  const starts = [startPostgres(), startRedis()] as const;
  for (const start of await Promise.allSettled(starts)) {
    if (start.status === 'fulfilled') backends.defer(() => start.value.stop());
  }
  return Promise.all(starts);
}

/** The first replica fills the store; the others start after that. */
async function startReplicas(
  count: number,
  postgres: PostgresServer,
  redis: RedisServer,
  backends: AsyncDisposableStack,
): Promise<{ replicas: Replica[]; keyFile: string }> {
  const environment: NodeJS.ProcessEnv = {
    // Twice as long as the balancer takes to see that a replica is stopping.
    PETSTORE_DRAIN_SECONDS: '1',
    PETSTORE_SHUTDOWN_SECONDS: '5',
    ...process.env,
    DATABASE_URL: postgres.url,
    REDIS_URL: redis.url,
    DATABASE_URL_FILE: undefined,
    REDIS_URL_FILE: undefined,
    LOG_LEVEL: 'warn',
  };
  const first = new Replica(1, environment, { args: ['--demo'] });
  // The administrator's key is written there; the data is in PostgreSQL.
  environment.PETSTORE_DATA = first.directory;
  const others = Array.from({ length: count - 1 }, (_, i) => new Replica(i + 2, environment));
  const replicas = [first, ...others];
  for (const replica of replicas) backends.defer(() => replica.stop());
  await first.start();
  await Promise.all(others.map(replica => replica.start()));
  return { replicas, keyFile: join(first.directory, 'admin.key') };
}

interface Welcome {
  url: string;
  replicas: readonly Replica[];
  postgres: PostgresServer;
  redis: RedisServer;
  keyFile: string;
}

function welcome({ url, replicas, postgres, redis, keyFile }: Welcome): string {
  const list = replicas.map(
    ({ number, port, opsPort, pid }) =>
      `${number}  http://127.0.0.1:${port}  process ${pid}  metrics http://127.0.0.1:${opsPort}/metrics`,
  );
  const secret = process.stdout.isTTY ? readFileSync(keyFile, 'utf8').trim() : `in ${keyFile}`;
  const key = `X-API-Key: $(cat '${keyFile}')`;
  const [{ pid }] = replicas as [Replica];
  return `
  Pet Store Service, ${replicas.length === 1 ? '1 replica' : `${replicas.length} replicas`}
    Address    ${url}
    Console    ${url}/console
    Portal     ${url}/docs
    Admin key  ${secret}
    Replicas   ${list.join('\n               ')}
    Database   ${postgres.url}
    Redis      ${redis.url}

  Everything is temporary: shop, key, database and Redis are deleted when this program ends (Ctrl-C).
  PostgreSQL and Redis do not flush to disk (fsync off).

  Try it:
    curl -H "${key}" "${url}/pets?limit=3"

  Then try:
    curl -i -H "${key}" "${url}/pets?limit=1"
                     several times: X-RateLimit-Remaining decreases by one each time, on any replica
    kill ${`${pid}`.padEnd(11)} one replica stops without a failed request, and is started again
    kill -9 ${`${pid}`.padEnd(8)} one replica is killed: the others continue, and it is started again
    kill -STOP ${`${redis.pid}`.padEnd(5)} Redis hangs: each replica counts limits in memory, until kill -CONT ${redis.pid}

`;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
