import { startPostgres } from '../../scripts/servers/postgres.ts';
import { startRedis } from '../../scripts/servers/redis.ts';

/** The settings of a service for the servers that its replicas share. */
interface Backends extends AsyncDisposable {
  env: { DATABASE_URL: string; REDIS_URL: string };
}

/** Starts a durable PostgreSQL and a Redis. Both stop when the result is disposed of, or with the bench. */
export async function startBackends(): Promise<Backends> {
  await using starting = new AsyncDisposableStack();
  const postgres = await startPostgres({ durable: true });
  starting.defer(() => postgres.stop());
  const redis = await startRedis();
  starting.defer(() => redis.stop());
  const started = starting.move();
  return {
    env: { DATABASE_URL: postgres.url, REDIS_URL: redis.url },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}
