// Several replicas of the service behind one address, with a PostgreSQL and a Redis of their own, to see how they do
// together: npm run start:replicas -- 4
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError, readConfig } from '../service/src/config.ts';
import { Balancer } from './servers/balancer.ts';
import { type PostgresServer, startPostgres } from './servers/postgres.ts';
import { type RedisServer, startRedis } from './servers/redis.ts';
import { Replica } from './servers/replica.ts';
import { Supervisor } from './servers/supervisor.ts';

const MOST_REPLICAS = 16;

/** How long requests in flight may take at the end, in milliseconds: event streams go on for ever. */
const LAST_REQUESTS = 1_000;

/** What cannot be started as it was asked for; told in one sentence. */
class UsageError extends Error {}

const stop = Promise.withResolvers<void>();
let isStopping = false;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  // It may come twice: npm passes on the Ctrl-C that the terminal has sent to both.
  process.on(signal, () => {
    if (!isStopping) say('Stopping …');
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
  if (/^\d+$/.test(text) && count >= 1 && count <= MOST_REPLICAS && more.length === 0) return count;
  throw new UsageError(
    `npm run start:replicas -- N takes how many replicas to start, a whole number from 1 to ${MOST_REPLICAS} ` +
      `(2 when left out), but was given "${[text, ...more].join(' ')}"`,
  );
}

/** Runs until it is told to stop; then everything ends in the order in which it is of no more use. */
async function run(count: number): Promise<void> {
  const balancer = new Balancer();
  try {
    const url = await listen(balancer);
    await using backends = new AsyncDisposableStack();
    const [postgres, redis] = await startBackends(backends);
    const { replicas, keyFile } = await startReplicas(count, postgres, redis, backends);
    const supervisor = new Supervisor(replicas, say);
    backends.defer(() => supervisor.stop());
    await Promise.all(replicas.map(replica => balancer.add(replica.port)));
    if (!isStopping) say(welcome({ url, replicas, postgres, redis, keyFile }));
    await stop.promise;
    await balancer.close(LAST_REQUESTS);
  } finally {
    await balancer.close(0);
  }
}

/** First of all, so that a port that is taken is told at once. */
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

/** The first one fills the store; the others come once it has. */
async function startReplicas(
  count: number,
  postgres: PostgresServer,
  redis: RedisServer,
  backends: AsyncDisposableStack,
): Promise<{ replicas: Replica[]; keyFile: string }> {
  const { PETSTORE_TRUST_PROXY } = process.env;
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
    PETSTORE_TRUST_PROXY: PETSTORE_TRUST_PROXY ? `${PETSTORE_TRUST_PROXY},127.0.0.1` : '127.0.0.1',
  };
  const first = new Replica(1, environment, { args: ['--demo'] });
  // Where the administrator's key is left; the shop itself is in PostgreSQL.
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
  const key = `X-API-Key: $(cat '${keyFile}')`;
  const [{ pid }] = replicas as [Replica];
  return `
  Pet Store Service, ${replicas.length === 1 ? '1 replica' : `${replicas.length} replicas`}
    Address    ${url}
    Portal     ${url}/docs
    Admin key  ${readFileSync(keyFile, 'utf8').trim()}
    Replicas   ${list.join('\n               ')}
    Database   ${postgres.url}
    Redis      ${redis.url}

  All of it is temporary: shop, key, database and Redis are gone when this ends (Ctrl-C).
  PostgreSQL and Redis are for trying out: nothing is flushed to disk (fsync off).

  Try it:
    curl -H "${key}" "${url}/pets?limit=3"

  And then:
    curl -i -H "${key}" "${url}/pets?limit=1"
                     again and again: X-RateLimit-Remaining goes down by one, whichever replica answers
    kill ${`${pid}`.padEnd(11)} one replica stops without failing a request, and is started again
    kill -9 ${`${pid}`.padEnd(8)} one replica: the others go on, and it is started again
    kill -STOP ${`${redis.pid}`.padEnd(5)} Redis: limits go on in the memory of each replica, until kill -CONT ${redis.pid}

`;
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
