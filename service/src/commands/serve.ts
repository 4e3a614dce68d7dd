import { lookup } from 'node:dns/promises';
import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type App, buildApp } from '../app.ts';
import { type Config, readConfig } from '../config.ts';
import { adminKeyPath } from '../db/store-directory.ts';
import { lockStore } from '../db/store-lock.ts';
import { fillEmptyStore } from '../demo/demo-shop.ts';
import { openFileLimit } from '../kit/open-files.ts';
import { writeSecretFile } from '../kit/secret-file.ts';
import { asError, codeOf } from '../kit/thrown.ts';
import { withoutPassword } from '../kit/urls.ts';
import { newAdministratorKey, validKeyIn } from './admin-key.ts';
import { CommandFailed, UsageError } from './failure.ts';
import { closeOnSignal } from './shut-down.ts';

/** `serve [--demo]`: runs until SIGTERM or SIGINT, then drains, finishes what is in flight and exits 0. */
export async function serve(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { demo: { type: 'boolean', default: false } } });
  const config = withinOpenFiles(readConfig(process.env, { isOnTerminal: isOnTerminal() }));
  // Replicas on PostgreSQL may share the directory: it holds only the key.
  const lock = config.databaseUrl === undefined ? lockStore(config.dataDirectory, 'serve') : undefined;
  const app = await buildApp(config);
  process.on('exit', () => app.endLog());
  // The welcome is for a person. Where it cannot be written, that must not end the service, and the log says the same.
  process.stderr.on('error', error =>
    app.log.warn({ reason: error.message }, 'Standard error cannot be written'),
  );
  const keyFile = adminKeyPath(config.dataDirectory);
  let firstKey: string | undefined;
  try {
    // First of all: a port that is taken leaves no store behind whose key nobody was shown.
    const url = await listen(app);
    lock?.listensAt(url);
    const metricsUrl = await listenForOperators(app);
    await app.createFirstKey(secret => {
      keepFirstKey(keyFile, secret, config);
      firstKey = secret;
    });
    if (values.demo) await fillEmptyStore(app.db, app.clock.now());
    // Before anyone is told that it listens: whoever is may end it at once.
    closeOnSignal(app);
    const store = shownStore(config);
    app.log.info({ url, metricsUrl, store, connections: config.connections }, 'Listening');
    app.log.flush();
    const keyInFile = await validKeyIn(keyFile, app.keyRing, app.clock.now());
    const keyElsewhere = config.databaseUrl !== undefined && !existsSync(keyFile);
    process.stderr.write(welcome({ url, metricsUrl, store, keyFile, keyInFile, keyElsewhere, firstKey }));
  } catch (error) {
    await app.close();
    throw error;
  }
}

function isOnTerminal(): boolean {
  return process.stdin.isTTY || process.stdout.isTTY;
}

/** Throws CommandFailed when the file cannot be written, which undoes the key in the database as well. */
function keepFirstKey(keyFile: string, secret: string, config: Config): void {
  try {
    writeSecretFile(keyFile, `${secret}\n`);
  } catch (cause) {
    throw new CommandFailed(
      `The administrator's key cannot be written to ${keyFile}: ${asError(cause).message}\n` +
        `No key was made in ${shownStore(config)}: set PETSTORE_DATA to a directory that this user can write to, and start again`,
      { cause },
    );
  }
}

/** Clients take at most half of the files that the process may open: the store, Redis and webhooks need some as well. */
function withinOpenFiles(config: Config): Config {
  return { ...config, connections: Math.min(config.connections, Math.floor(openFileLimit() / 2)) };
}

function listen({ server, config: { host, port } }: App): Promise<string> {
  return explained(host, port, '', address => server.listen({ host: address, port }));
}

/** Answers the URL of the metrics, if they are shown. */
async function listenForOperators({ ops, config }: App): Promise<string | undefined> {
  const { opsHost, opsPort } = config;
  if (!ops || opsPort === undefined) return undefined;
  return explained(opsHost, opsPort, 'OPS_', address => ops.listen(address, opsPort));
}

/** Opens a port; why it cannot be opened is told by the names of its settings, which begin with `prefix`. */
async function explained(
  host: string,
  port: number,
  prefix: '' | 'OPS_',
  open: (address: string) => Promise<string>,
): Promise<string> {
  try {
    // One address: for a name with several, such as localhost, the framework would open servers of its own beside ours.
    const { address } = await lookup(host);
    return await open(address);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EADDRINUSE')
      throw new UsageError(`Port ${port} of ${host} is in use: end the other program or set ${prefix}PORT`);
    if (code === 'EACCES')
      throw new UsageError(
        `Port ${port} may not be opened by this user: set ${prefix}PORT to one above 1023`,
      );
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
      throw new UsageError(`${prefix}HOST ${host} is no address of this machine`);
    throw error;
  }
}

function shownStore({ databaseUrl, dataDirectory }: Config): string {
  return databaseUrl === undefined ? dataDirectory : withoutPassword(databaseUrl);
}

interface Welcome {
  url: string;
  metricsUrl: string | undefined;
  /** Where the shop is kept. */
  store: string;
  keyFile: string;
  /** Whether the key file can be used as it is. */
  keyInFile: boolean;
  /** Whether there is no such file, and another replica has been the first of this store. */
  keyElsewhere: boolean;
  firstKey: string | undefined;
}

function welcome({ url, metricsUrl, store, keyFile, keyInFile, keyElsewhere, firstKey }: Welcome): string {
  const credential = keyInFile ? `$(cat '${keyFile}')` : '<your key>';
  const key = firstKey
    ? `${firstKey}\n               shown this once; kept in ${keyFile}`
    : keyInFile
      ? `in ${keyFile}`
      : keyElsewhere
        ? `none in ${keyFile}: it was left where the first replica started,\n` +
          `               in its PETSTORE_DATA; or make another with\n               ${newAdministratorKey}`
        : `none in ${keyFile} any more; make another with\n               ${newAdministratorKey}`;
  return `
  Pet Store Service
    Address    ${url}
    Portal     ${url}/docs
    Contract   ${url}/openapi.yaml${metricsUrl ? `\n    Metrics    ${metricsUrl}` : ''}
    Data       ${store}
    Admin key  ${key}

  Try it:
    curl -H "X-API-Key: ${credential}" "${url}/pets?limit=3"

`;
}
