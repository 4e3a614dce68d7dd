import { startPostgres } from '../../scripts/servers/postgres.ts';
import { startRedis } from '../../scripts/servers/redis.ts';

/** The servers that replicas of the service share. */
export interface Backends {
  databaseUrl: string;
  redisUrl: string;
}

/** Starts a durable PostgreSQL and a Redis. Both stop when the result is disposed of, or with the bench. */
export async function startBackends(): Promise<Backends & AsyncDisposable> {
  await using starting = new AsyncDisposableStack();
  const postgres = await startPostgres({ durable: true });
  starting.defer(() => postgres.stop());
  const redis = await startRedis();
  starting.defer(() => redis.stop());
  const started = starting.move();
  return {
    databaseUrl: postgres.url,
    redisUrl: redis.url,
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}
