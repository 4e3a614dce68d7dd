import { setImmediate as nextTurn } from 'node:timers/promises';
import BetterSqlite3 from 'better-sqlite3';
import { continuePostgres } from '../../src/db/continue-postgres.ts';
import type { Database, Transaction } from '../../src/db/database.ts';
import { continueEmbedded, nextRange, type Restoration } from '../../src/db/event-ranges.ts';
import {
  digestOf,
  INSERT_SEAL,
  NO_SEAL,
  SELECT_LAST_SEAL,
  sealGroup,
  valuesOfSeal,
} from '../../src/db/event-seals.ts';
import { NEW_EVENT_COLUMNS, NEW_EVENT_PARAMETERS, valuesOf } from '../../src/db/new-events.ts';
import { storePath } from '../../src/db/store-directory.ts';
import type { TestApp } from './test-app.ts';

/**
 * Takes the log and the positions of webhooks back to an event, as a restore does, while the service runs. The rest of the shop
 * stays as it is. On PostgreSQL the service then continues the log.
 */
export async function takeBack(db: Database, lastId: number): Promise<void> {
  await db.numberEvents();
  await db.write(tx => takeBackIn(tx, lastId));
}

async function takeBackIn(tx: Transaction, lastId: number): Promise<void> {
  await tx.run('DELETE FROM events WHERE id > ?', [lastId]);
  await tx.run('DELETE FROM event_seals WHERE last_id > ?', [lastId]);
  await setLastId(tx, lastId);
  await tx.run('DELETE FROM webhook_deliveries WHERE event_id > ?', [lastId]);
  await tx.run('UPDATE webhooks SET position = ? WHERE position > ?', [lastId, lastId]);
}

function setLastId(tx: Transaction, lastId: number): Promise<number> {
  return tx.run(
    tx.engine === 'postgres'
      ? 'UPDATE event_log SET last_id = ?'
      : "UPDATE sqlite_sequence SET seq = ? WHERE name = 'events'",
    [lastId],
  );
}

/**
 * Restores the log to an event and continues it, in one step for the service that runs. `after` is the highest number that a client
 * may have seen, if it is higher than those in the log.
 */
export async function restoreLog({ app, clock }: TestApp, lastId: number, after = 0): Promise<Restoration> {
  await app.db.numberEvents();
  const { events, ...restoration } = nextRange(lastId, { after, now: clock.now() });
  await app.db.write(async tx => {
    await takeBackIn(tx, lastId);
    const [{ id, ...event }] = events;
    await tx.run(`INSERT INTO events (id, ${NEW_EVENT_COLUMNS}) VALUES (?, ${NEW_EVENT_PARAMETERS})`, [
      id,
      ...valuesOf(event),
    ]);
    await setLastId(tx, id);
    const last = await tx.get<{ seal: string | null }>(SELECT_LAST_SEAL);
    const sealed = sealGroup(last?.seal ?? NO_SEAL, id, [digestOf({ id, ...event })], clock.now());
    await tx.run(INSERT_SEAL, valuesOfSeal(sealed));
  });
  return restoration;
}

/** Does what the command `continue-log` does to the store of a running service. */
export async function continueLogOf({ app, clock, store }: TestApp, after = 0): Promise<Restoration> {
  const options = { after, now: clock.now() };
  const { databaseUrl } = app.config;
  if (databaseUrl !== undefined) return continuePostgres(databaseUrl, options);
  const path = storePath(store.directory);
  await noTransaction(path);
  return continueEmbedded(path, options);
}

/**
 * Resolves when the service has no transaction open, and the caller can write in the same turn. The command is another process; here
 * both share a thread, so that a transaction of the service would not end while the command waits for it.
 */
async function noTransaction(path: string): Promise<void> {
  const connection = new BetterSqlite3(path, { timeout: 0 });
  try {
    while (isLocked(connection)) await nextTurn();
  } finally {
    connection.close();
  }
}

function isLocked(connection: BetterSqlite3.Database): boolean {
  try {
    connection.exec('BEGIN IMMEDIATE; ROLLBACK');
    return false;
  } catch (error) {
    if (error instanceof BetterSqlite3.SqliteError && error.code === 'SQLITE_BUSY') return true;
    throw error;
  }
}
