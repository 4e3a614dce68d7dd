import type { TestContext } from 'node:test';
import { sized } from '../support/long.ts';
import { dataDirectory, type ServiceProcess, serve } from '../support/service-process.ts';
import { blockConnections, newDatabase } from '../support/test-store.ts';

/** `CRASH_SEED=…` repeats the random moments of a run, but not what the machine does between them. */
export const SEED = Number(process.env.CRASH_SEED ?? Date.now() | 0);

/** How often a process is killed: `CRASH_ROUNDS=200 node --test …` kills it more often. */
export function kills(short: number, long: number): number {
  return Number(process.env.CRASH_ROUNDS ?? sized(short, long));
}

type Environment = Record<string, string>;

export type Start = (settings?: Environment) => Promise<ServiceProcess>;

/** The stores that processes are killed on. Several processes can share one on PostgreSQL. */
export const stores = ['SQLite', 'PostgreSQL'] as const;

/** Creates a store, which is removed when the test ends. Returns how to start processes on it. */
export async function newStore(
  t: TestContext,
  store: (typeof stores)[number],
  environment: Environment = {},
): Promise<Start> {
  t.diagnostic(`seed ${SEED}`);
  const directory = dataDirectory(t);
  const database = store === 'SQLite' ? {} : await databaseOf(t);
  return settings => serve(t, directory, { ...environment, ...database, ...settings });
}

async function databaseOf(t: TestContext): Promise<Environment> {
  const { name, url, drop } = await newDatabase();
  t.after(async () => {
    // Processes that still run must not keep it.
    await blockConnections(name);
    await drop();
  });
  return { DATABASE_URL: url, PETSTORE_DATABASE_CONNECTIONS: '6' };
}
