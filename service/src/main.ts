import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

// Caching compiled code between starts halves the time to the first response. `npm start` also sets NODE_COMPILE_CACHE to this
// directory, which covers this file as well, and saves about 20 MB that stripping its types would take.
enableCompileCache(join(import.meta.dirname, '../../node_modules/.cache/petstore'));

const usage = `Usage: node_modules/.bin/node service/src/main.ts <command>

  serve [--demo]       serve the API; --demo fills an empty store with a small shop
  migrate              migrate the store's schema to the newest version
  backup FILE          write the embedded store to a new file; the service may be running
  restore FILE [--after N]
                       replace the embedded store with a backup; the old store is kept under another name
  continue-log [--after N]
                       continue the event log in a new range, after a restore with other programs; N is the
                       highest number of an event that clients have seen
  check [FILE] [--checkpoint ID:SEAL …]
                       check the embedded store or a backup for damage, and compare its event log with checkpoints
  new-store [--after N]
                       create an empty store in PETSTORE_DATA if its store is lost
  migrate-store        copy the embedded store in PETSTORE_DATA to the empty PostgreSQL database in DATABASE_URL
  seed                 fill an empty store with the demo shop
  sign-in-link         print a new link that signs a browser on this machine in to the console of the running service
  keys create --name NAME --plan free|pro|business|enterprise --scope SCOPE [--scope SCOPE …]
              [--per-minute N --per-day N] [--expires DATE-TIME] [--kind secret|publishable|test]
              [--origin ORIGIN …] [--network NETWORK …]
  keys list            list all keys, one per line
  keys show ID         show one key, as the API returns it
  keys change ID [--name NAME] [--plan PLAN] [--scope SCOPE …] [--per-minute N] [--per-day N]
              [--expires DATE-TIME|never] [--origin ORIGIN …] [--network NETWORK …|any]
  keys rotate ID [--grace SECONDS]
                       give a key a new secret; earlier secrets expire after SECONDS
  keys revoke ID       revoke a key, which cannot be undone
  keys unban ID        lift the ban of a key
  keys reset ID        reset the limits of a key, and lift its ban
  keys usage [ID]      show the usage of the limits of a key, and its requests by day; without ID, the keys with the
                       most requests today

Settings are environment variables; docs/operations.md lists them.
`;

const [command, ...args] = process.argv.slice(2);

const commands: Record<string, () => Promise<(args: string[]) => Promise<void>>> = {
  serve: async () => (await import('./commands/serve.ts')).serve,
  migrate: async () => (await import('./commands/store.ts')).migrate,
  backup: async () => (await import('./commands/backup.ts')).backup,
  restore: async () => (await import('./commands/restore.ts')).restore,
  'continue-log': async () => (await import('./commands/continue-log.ts')).continueLog,
  check: async () => (await import('./commands/check.ts')).check,
  'new-store': async () => (await import('./commands/new-store.ts')).newStore,
  'migrate-store': async () => (await import('./commands/migrate-store.ts')).migrateStore,
  seed: async () => (await import('./commands/seed.ts')).seed,
  'sign-in-link': async () => (await import('./commands/sign-in-link.ts')).signInLink,
  keys: async () => (await import('./commands/keys.ts')).keys,
};

// A reader that stops early, such as `head`, is not a failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

const load = command !== undefined && Object.hasOwn(commands, command) ? commands[command] : undefined;
if (args.includes('--help') || args.includes('-h')) {
  process.stdout.write(usage);
} else if (load) {
  const run = await load();
  const { reportFailure } = await import('./commands/failure.ts');
  await run(args).catch(reportFailure);
} else if (command === '--help' || command === '-h' || command === 'help') {
  process.stdout.write(usage);
} else {
  process.stderr.write(command === undefined ? usage : `There is no command "${command}"\n\n${usage}`);
  process.exitCode = 2;
}
