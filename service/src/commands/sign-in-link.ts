import { issueTicket, TICKET_LIFETIME } from '../access/api-keys/sign-in-ticket.ts';
import { type Config, readConfig } from '../config.ts';
import { BUILD_COMMAND, isConsoleBuilt } from '../console/console-files.ts';
import { readHolder } from '../db/store-lock.ts';
import { isLoopback } from '../kit/client-address.ts';
import { SECOND } from '../kit/clock.ts';
import { inWords } from '../kit/quantities.ts';
import { argumentsOf } from './arguments.ts';
import { CommandFailed, UsageError } from './failure.ts';
import { withExistingStore } from './store.ts';

/** How long the service may take to respond, in milliseconds. */
const TIMEOUT = 5 * SECOND;

/**
 * `sign-in-link`: prints a new link that signs one browser on this machine in to the console of the running service. Like `keys`,
 * it needs access to the store instead of an API key. The link replaces an earlier one.
 */
export async function signInLink(args: string[]): Promise<void> {
  argumentsOf(args, {});
  if (!isConsoleBuilt())
    throw new CommandFailed(
      `The console is not built, so no link can be opened: build it with ${BUILD_COMMAND}, and run the command again`,
    );
  const url = await withExistingStore(async db => {
    const origin = loopbackOrigin(readConfig(process.env));
    await rejectNoService(origin);
    return linkOf(origin, await issueTicket(db, Date.now()));
  });
  process.stdout.write(`${url}\n`);
  process.stderr.write(
    `The link signs in once, within ${inWords(TICKET_LIFETIME)}, in a browser on this machine\n`,
  );
}

/** The link of a ticket. The ticket is in the fragment, which browsers send to no server. */
export function linkOf(origin: string, ticket: string): string {
  return `${origin}/console#sign-in=${ticket}`;
}

/**
 * The origin at which the service accepts tickets: that of the process that uses the embedded store, otherwise the one in the
 * settings. Throws UsageError if it is not an address of this machine only.
 */
function loopbackOrigin({ databaseUrl, dataDirectory, host, port }: Config): string {
  const listening = databaseUrl === undefined ? readHolder(dataDirectory)?.url : undefined;
  const url = new URL(listening ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}`);
  if (url.hostname === '0.0.0.0' || url.hostname === '[::]') url.hostname = '127.0.0.1';
  if (isLoopback(url.hostname)) return url.origin;
  throw new UsageError(
    `The service listens on ${url.host}, and links sign in only on a loopback address: sign in with an API key, such as the one in admin.key`,
  );
}

/** Throws CommandFailed if no service responds. */
async function rejectNoService(origin: string): Promise<void> {
  const found = await fetch(`${origin}/healthz`, { signal: AbortSignal.timeout(TIMEOUT) }).then(
    response => response.ok,
    () => false,
  );
  if (found) return;
  throw new CommandFailed(
    `No service responds at ${origin}: start it, or set HOST and PORT as for the service, and run the command again`,
  );
}
