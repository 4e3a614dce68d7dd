import { readConfig } from '../config.ts';
import { continueEmbedded, HIGHEST, type Restoration } from '../db/event-ranges.ts';
import { cannotBeOpened } from '../db/sqlite-errors.ts';
import { storePath } from '../db/store-directory.ts';
import { argumentsOf } from './arguments.ts';
import { UsageError } from './failure.ts';
import { withExistingStore } from './store.ts';

/** The option of the commands that continue the log in a new range. */
export const afterOption = { after: { type: 'string' } } as const;

/**
 * `continue-log`: continues the numbers of events in a new range, after the store was restored with other programs. Each run starts
 * one more range, so it can be repeated when its result is not known.
 */
export async function continueLog(args: string[]): Promise<void> {
  const { values } = argumentsOf(args, afterOption);
  const options = { after: numberAfter(values.after), now: Date.now() };
  const { dataDirectory, databaseUrl } = readConfig(process.env);
  process.stdout.write(continuationOf(await continueStore(dataDirectory, databaseUrl, options)));
}

async function continueStore(
  directory: string,
  databaseUrl: string | undefined,
  options: Parameters<typeof continueEmbedded>[1],
): Promise<Restoration> {
  if (databaseUrl !== undefined) {
    // The driver takes megabytes of memory.
    const { continuePostgres } = await import('../db/continue-postgres.ts');
    return continuePostgres(databaseUrl, options);
  }
  // Rejects a directory without a store, and a database of another program.
  return withExistingStore(async () => {
    try {
      return continueEmbedded(storePath(directory), options);
    } catch (error) {
      throw cannotBeOpened(directory, error);
    }
  });
}

/** Reads `--after`, the highest number of an event that a client may have seen; 0 without it. */
export function numberAfter(text: string | undefined): number {
  if (text === undefined) return 0;
  const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.POSITIVE_INFINITY;
  if (number <= HIGHEST) return number;
  throw new UsageError(
    `--after must be the number of an event, at most ${HIGHEST}, but was ${JSON.stringify(text)}`,
  );
}

/** Describes where the log continues. */
export function continuationOf({ lastSurvivor, first }: Restoration): string {
  return (
    `The event log continues after event ${lastSurvivor} with event ${first}, log.restored: clients whose cursor is between the ` +
    'two get 410 log_restored\n'
  );
}
