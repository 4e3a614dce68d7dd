import type { Config } from './config.ts';
import type { Counters } from './counters/counters.ts';
import { openCounters } from './counters/open-counters.ts';
import { reasonOf } from './counters/redis-client.ts';
import type { Database, StoreStatus } from './db/database.ts';
import { openDatabase } from './db/open-database.ts';
import { type Clock, systemClock } from './kit/clock.ts';
import type { Observers } from './observers.ts';

const statusTexts: Record<StoreStatus, string> = {
  up: 'The database is back',
  unavailable: 'The database cannot be reached',
  unconfirmed:
    'Commits are not confirmed, because a synchronous standby does not respond: writes get 503 until it is back or removed from ' +
    'synchronous_standby_names',
  confirmed: 'Commits are confirmed again',
};

interface StoreOptions extends Pick<Observers, 'log' | 'metrics' | 'tracing'> {
  clock: Clock;
  /** How long a response of Redis may take, in milliseconds; replaced by tests. */
  redisTimeout: number | undefined;
}

/**
 * Opens the database, migrates its schema, and opens the counters of limits; `opened` closes them. Logs when one of them
 * becomes unavailable and when it is back.
 */
export async function openStores(
  config: Config,
  { clock, redisTimeout, log, metrics, tracing }: StoreOptions,
  opened: AsyncDisposableStack,
): Promise<{ db: Database; counters: Counters }> {
  const db = await openDatabase(
    {
      ...config,
      onCommit: metrics?.onCommit,
      onStatus: (status, reason) => {
        if (status === 'unavailable') log.warn({ reason }, statusTexts[status]);
        else log.warn(statusTexts[status]);
      },
      onPrimary: url =>
        log.warn({ primary: new URL(url).host }, 'Another server has become the primary of the database'),
      onPooler: () => log.info('A pooler is in front of PostgreSQL: statements are not prepared'),
      onPolling: () =>
        log.warn(
          'LISTEN and NOTIFY of the database do not reach other sessions: the service polls for events, ten times a second',
        ),
      onMigrated: migrations => log.info({ migrations }, 'Schema migrated'),
      onContinued: continued =>
        log.error(
          continued,
          'The database was returned to an earlier state: the event log ended before an event that clients may know. It continues ' +
            'in a new range, as after `continue-log`',
        ),
    },
    clock,
  );
  opened.defer(() => db.close());
  const counters = openCounters({
    urls: config.redisUrls,
    prefix: config.redisPrefix,
    timeout: redisTimeout,
    clock: clock === systemClock ? 'redis' : clock,
    onStatus: (status, error) => {
      if (status === 'shared') log.warn('Redis is back: limits are shared again');
      else {
        log.warn(
          { reason: error && reasonOf(error) },
          'Redis cannot be used: each replica counts limits by itself until it returns',
        );
      }
    },
    onCommand: tracing?.onRedisCommand,
  });
  opened.defer(() => counters.close());
  return { db, counters };
}
