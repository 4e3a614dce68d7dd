import { readConfig } from '../config.ts';
import { type CopiedTable, CopyFailed, copyStore } from '../db/copy-store.ts';
import { storePath } from '../db/store-directory.ts';
import { lockStore } from '../db/store-lock.ts';
import { serviceEvents } from '../events/event-log/service-events.ts';
import { withoutPassword } from '../kit/urls.ts';
import { argumentsOf } from './arguments.ts';
import { rejectNoStore } from './embedded-store.ts';
import { UsageError } from './failure.ts';

/** `migrate-store`: copies the embedded store in PETSTORE_DATA to the empty PostgreSQL database in DATABASE_URL. */
export async function migrateStore(args: string[]): Promise<void> {
  argumentsOf(args, {});
  const { dataDirectory: directory, databaseUrl } = readConfig(process.env);
  if (databaseUrl === undefined) {
    throw new UsageError(
      'DATABASE_URL is not set: set it to the PostgreSQL database that receives the store',
    );
  }
  rejectNoStore(directory);
  lockStore(directory, 'migrate-store');
  process.stderr.write(`Copying the store in ${directory} to ${withoutPassword(databaseUrl)} …\n`);
  const event = serviceEvents.newEvent('service.store_migrated', 0, { command: 'migrate-store' });
  const tables = await copyStore({ directory, databaseUrl, event }).catch(error => {
    throw error instanceof CopyFailed ? new UsageError(error.message, { cause: error }) : error;
  });
  process.stdout.write(`${tableOf(tables)}\n\n`);
  process.stdout.write(nextSteps(directory));
}

function tableOf(tables: readonly CopiedTable[]): string {
  const header = { name: 'table', embedded: 'embedded', postgres: 'PostgreSQL' };
  const rows = [header, ...tables];
  const width = Math.max(...rows.map(({ name }) => name.length));
  return rows
    .map(({ name, embedded, postgres }) =>
      [name.padEnd(width), String(embedded).padStart(10), String(postgres).padStart(10)].join(' | '),
    )
    .join('\n');
}

function nextSteps(directory: string): string {
  return `The row counts and the checksums of all columns are equal. The embedded store in ${directory} is unchanged.

Next:
  1. Start the service with DATABASE_URL set to this database and PETSTORE_DATA as before: admin.key there and all
     other keys stay valid.
  2. Do not start the service without DATABASE_URL again: its changes would be missing in PostgreSQL.
  3. Back up PostgreSQL, then move ${storePath(directory)} to another place.
`;
}
