import { lookup } from 'node:dns/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type App, buildApp } from '../app.ts';
import { readConfig } from '../config.ts';
import { fillEmptyStore } from '../demo/demo-shop.ts';
import { SECOND } from '../kit/clock.ts';
import { writeSecretFile } from '../kit/secret-file.ts';
import { UsageError } from './failure.ts';

/** `serve [--demo]`: runs until SIGTERM or SIGINT, then finishes what is in flight and exits 0. */
export async function serve(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { demo: { type: 'boolean', default: false } } });
  const config = readConfig(process.env);
  const app = buildApp(config);
  process.on('exit', () => app.log.flush());
  const keyFile = join(config.dataDirectory, 'admin.key');
  let firstKey: string | undefined;
  try {
    await app.createFirstKey(secret => {
      writeSecretFile(keyFile, `${secret}\n`);
      firstKey = secret;
    });
    if (values.demo) await fillEmptyStore(app.db, app.clock.now());
    const url = await listen(app);
    // Before anyone is told that it listens: whoever is may end it at once.
    closeOnSignal(app);
    app.log.info({ url, dataDirectory: config.dataDirectory }, 'listening');
    app.log.flush();
    process.stderr.write(welcome(url, config.dataDirectory, keyFile, firstKey));
  } catch (error) {
    await app.close();
    throw error;
  }
}

async function listen({ server, config: { host, port } }: App): Promise<string> {
  try {
    // One address: for a name with several, such as localhost, the framework would open servers of its own beside ours.
    const { address } = await lookup(host);
    return await server.listen({ host: address, port });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE')
      throw new UsageError(`Port ${port} of ${host} is in use: end the other program or set PORT`);
    if (code === 'EACCES')
      throw new UsageError(`Port ${port} may not be opened by this user: set PORT to one above 1023`);
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
      throw new UsageError(`HOST ${host} is no address of this machine`);
    throw error;
  }
}

const newAdministratorKey =
  'node_modules/.bin/node service/src/main.ts keys create --name Administrator --scope admin ' +
  '--plan enterprise --per-minute 1000000 --per-day 1000000000';

function welcome(url: string, directory: string, keyFile: string, firstKey: string | undefined): string {
  const hasKeyFile = existsSync(keyFile);
  const credential = hasKeyFile ? `$(cat '${keyFile}')` : '<your key>';
  const key = firstKey
    ? `${firstKey}\n               shown this once; kept in ${keyFile}`
    : hasKeyFile
      ? `in ${keyFile}`
      : `not in ${keyFile} any more; make another with\n               ${newAdministratorKey}`;
  return `
  Pet Store Service
    Address    ${url}
    Contract   ${url}/openapi.yaml
    Data       ${directory}
    Admin key  ${key}

  Try it:
    curl -H "X-API-Key: ${credential}" "${url}/pets?limit=3"

`;
}

/** How long new connections are still taken after a signal, in milliseconds: those on their way are not cut off. */
const LAST_CALL = 50;

/** A second signal, or time running out, ends the process without waiting any longer. */
function closeOnSignal(app: App): void {
  let closing = false;
  const onSignal = (signal: NodeJS.Signals) => {
    if (closing) process.exit(1);
    closing = true;
    app.log.info({ signal }, 'shutting down');
    void shutDown(app);
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
}

async function shutDown(app: App): Promise<void> {
  await sleep(LAST_CALL);
  const deadline = setTimeout(() => {
    app.log.warn('requests still in flight were cut off');
    app.server.server.closeAllConnections();
  }, app.config.shutdownSeconds * SECOND);
  try {
    await app.close();
    clearTimeout(deadline);
  } catch (error) {
    app.log.fatal({ err: error }, 'shutdown failed');
    process.exitCode = 1;
  }
}
