import type { Config } from './config.ts';
import type { Counters } from './counters/counters.ts';
import { openCounters } from './counters/open-counters.ts';
import type { Database } from './db/database.ts';
import { openDatabase } from './db/open-database.ts';
import { type Clock, systemClock } from './kit/clock.ts';
import type { Observers } from './observers.ts';

export interface StoreOptions extends Pick<Observers, 'log' | 'metrics' | 'tracing'> {
  clock: Clock;
}

/**
 * Opens the database, migrates its schema, and opens the counters of limits; `opened` closes them. Logs when one of them
 * becomes unavailable and when it is back.
 */
export async function openStores(
  config: Config,
  { clock, log, metrics, tracing }: StoreOptions,
  opened: AsyncDisposableStack,
): Promise<{ db: Database; counters: Counters }> {
  const db = await openDatabase(
    {
      ...config,
      onCommit: metrics?.onCommit,
      onStatus: (status, reason) => {
        if (status === 'up') log.warn('The database is back');
        else log.warn({ reason }, 'The database cannot be reached');
      },
      onPooler: () => log.info('A pooler is in front of PostgreSQL: statements are not prepared'),
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
    clock: clock === systemClock ? 'redis' : clock,
    onStatus: (status, error) => {
      if (status === 'shared') log.warn('Redis is back: limits are shared again');
      else {
        log.warn(
          { reason: error?.message },
          'Redis cannot be reached: each replica counts limits by itself until it returns',
        );
      }
    },
    onCommand: tracing?.onRedisCommand,
  });
  opened.defer(() => counters.close());
  return { db, counters };
}
