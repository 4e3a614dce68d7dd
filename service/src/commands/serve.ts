import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { issueTicket } from '../access/api-keys/sign-in-ticket.ts';
import { type App, buildApp } from '../app.ts';
import { type Config, readConfig } from '../config.ts';
import { isConsoleBuilt } from '../console/console-files.ts';
import { adminKeyPath } from '../db/store-directory.ts';
import { lockStore } from '../db/store-lock.ts';
import { fillEmptyStore } from '../demo/demo-shop.ts';
import { isLoopback } from '../kit/client-address.ts';
import { collectGarbage, limitGarbage } from '../kit/garbage.ts';
import { openFileLimit } from '../kit/open-files.ts';
import { writeSecretFile } from '../kit/secret-file.ts';
import { asError, codeOf } from '../kit/thrown.ts';
import { withoutPassword } from '../kit/urls.ts';
import { validKeyIn } from './admin-key.ts';
import { argumentsOf } from './arguments.ts';
import { CommandFailed, UsageError } from './failure.ts';
import { closeOnSignal } from './shut-down.ts';
import { showsSignIn, type Welcome, welcomeText } from './welcome.ts';

/** `serve [--demo]`: runs until SIGTERM or SIGINT, then drains, finishes what is in flight and exits 0. */
export async function serve(args: string[]): Promise<void> {
  const { values } = argumentsOf(args, { demo: { type: 'boolean', default: false } });
  const config = withinOpenFiles(readConfig(process.env, { isOnTerminal: isOnTerminal() }));
  // Check the addresses first: an invalid setting must not create a store or migrate its schema.
  await checkAddresses(config);
  // Replicas on PostgreSQL may share the directory: it holds only the key.
  const lock = config.databaseUrl === undefined ? lockStore(config.dataDirectory, 'serve') : undefined;
  limitGarbage();
  const app = await buildApp(config, { isDemo: values.demo });
  process.on('exit', () => app.endLog());
  // The welcome text is only for people, and the log has the same facts: failing to write it must not stop the service.
  process.stderr.on('error', error =>
    app.log.warn({ reason: error.message }, 'Standard error cannot be written'),
  );
  let firstKey: string | undefined;
  try {
    // Listen first: if the port is in use, no key is created that is never shown.
    const url = await listen(app);
    lock?.listensAt(url);
    const metricsUrl = await listenForOperators(app);
    await app.createFirstKey(secret => {
      storeFirstKey(secret, config);
      firstKey = secret;
    });
    const isFilled = values.demo && (await fillEmptyStore(app.db, app.clock.now()));
    if (isFilled) await app.keyLimits.load(app.clock.now());
    // Before the first requests: later, V8 would also discard code that it has optimized for them.
    collectGarbage();
    // Before the line `Listening`, because whatever waits for that line may send a signal at once.
    closeOnSignal(app);
    const store = shownStore(config);
    app.log.info({ url, metricsUrl, store, connections: config.connections }, 'Listening');
    app.log.flush();
    await welcome(app, { url, metricsUrl, store, firstKey }).catch(error =>
      app.log.warn({ reason: asError(error).message }, 'The welcome text cannot be shown'),
    );
  } catch (error) {
    await app.close();
    throw error;
  }
}

/** Writes the welcome text. It needs the store, which may be unavailable by now: that must not stop a service that listens. */
async function welcome(
  { config, db, keyRing, clock }: App,
  { firstKey, ...shown }: Pick<Welcome, 'url' | 'metricsUrl' | 'store'> & { firstKey: string | undefined },
): Promise<void> {
  const directory = config.dataDirectory;
  const keyFile = adminKeyPath(directory);
  const keyInFile = await validKeyIn(keyFile, keyRing, clock.now());
  const keyElsewhere = config.databaseUrl !== undefined && !existsSync(keyFile);
  const key = keyInFile ? 'in file' : keyElsewhere ? 'elsewhere' : 'missing';
  const hasConsole = isConsoleBuilt();
  const isLocal = isLoopback(new URL(shown.url).hostname);
  // What is not a terminal may be a journal or a collector of logs, which many people can read for a long time.
  const shownKey = process.stderr.isTTY ? firstKey : undefined;
  const text = { ...shown, directory, hasConsole, key, shownKey, isLocal } as const;
  const ticket = showsSignIn(text) ? await issueTicket(db, clock.now()) : undefined;
  process.stderr.write(welcomeText({ ...text, ticket }));
}

function isOnTerminal(): boolean {
  return process.stdin.isTTY || process.stdout.isTTY;
}

/** Throws CommandFailed when the file cannot be written, which undoes the key in the database as well. */
function storeFirstKey(secret: string, config: Config): void {
  const keyFile = adminKeyPath(config.dataDirectory);
  try {
    writeSecretFile(keyFile, `${secret}\n`);
  } catch (cause) {
    throw new CommandFailed(
      `The administrator's key cannot be written to ${keyFile}: ${asError(cause).message}\n` +
        `No key was created in ${shownStore(config)}: set PETSTORE_DATA to a directory that this user can write to, and start again`,
      { cause },
    );
  }
}

/** Limits client connections to half of the files that the process may open: the store, Redis and webhooks need the rest. */
function withinOpenFiles(config: Config): Config {
  return { ...config, connections: Math.min(config.connections, Math.floor(openFileLimit() / 2)) };
}

/** Rejects when a setting is not an address that this machine can listen on. */
async function checkAddresses({ host, opsHost, opsPort }: Config): Promise<void> {
  await explained(host, 0, '', tryToListen);
  if (opsPort !== undefined) await explained(opsHost, 0, 'OPS_', tryToListen);
}

/** Listens on a free port and stops at once: on the port of the setting, a client could connect. */
async function tryToListen(host: string): Promise<void> {
  const server = createServer().listen({ host, port: 0 });
  try {
    await once(server, 'listening');
  } catch (error) {
    // Other errors are about the port, which is not that of the setting.
    if (codeOf(error) === 'EADDRNOTAVAIL') throw error;
  } finally {
    server.close();
  }
}

function listen({ server, config: { host, port } }: App): Promise<string> {
  return explained(host, port, '', address => server.listen({ host: address, port }));
}

/** Returns the URL of the metrics; `undefined` when they are off. */
async function listenForOperators({ ops, config }: App): Promise<string | undefined> {
  const { opsHost, opsPort } = config;
  if (!ops || opsPort === undefined) return undefined;
  return explained(opsHost, opsPort, 'OPS_', address => ops.listen(address, opsPort));
}

/** Opens a port. Errors name its settings, whose names start with `prefix`. */
async function explained<T>(
  host: string,
  port: number,
  prefix: '' | 'OPS_',
  open: (address: string) => Promise<T>,
): Promise<T> {
  try {
    // One address: for a name with several, such as localhost, the framework would open additional servers.
    const { address } = await lookup(host);
    return await open(address);
  } catch (error) {
    const code = codeOf(error);
    // Another program may end, and the network may still be starting.
    if (code === 'EADDRINUSE')
      throw new CommandFailed(
        `Port ${port} of ${host} is in use: stop the other program or set ${prefix}PORT`,
      );
    if (code === 'EACCES')
      throw new UsageError(`This user may not open port ${port}: set ${prefix}PORT to a port above 1023`);
    // Everyone who can reach the metrics can read them.
    const choices = prefix === '' ? 'or to 0.0.0.0 for all of them' : 'such as 127.0.0.1';
    const notAnAddress = `${prefix}HOST ${host} is not an address of this machine: set ${prefix}HOST to one of its addresses, ${choices}`;
    if (code === 'EADDRNOTAVAIL') throw new CommandFailed(notAnAddress);
    if (code === 'ENOTFOUND') throw new UsageError(notAnAddress);
    if (code === 'EAI_AGAIN')
      throw new CommandFailed(
        `${prefix}HOST ${host} cannot be resolved, because DNS is unavailable: start again later, or set ${prefix}HOST to an IP address`,
      );
    throw error;
  }
}

function shownStore({ databaseUrl, dataDirectory }: Config): string {
  return databaseUrl === undefined ? dataDirectory : withoutPassword(databaseUrl);
}
