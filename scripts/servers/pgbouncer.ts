import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { debianEnvironment, debianProgram } from './debian-programs.ts';
import { startOnPort } from './ports.ts';
import { ServerProcess } from './server-process.ts';
import { changeOwner, unprivilegedUser } from './unprivileged.ts';

export interface PgbouncerOptions {
  /** Of the PostgreSQL behind it, whose users need no password. */
  serverUrl: string;
  /** When a connection of the server goes to another client: after each transaction, or when its client has ended. */
  mode: 'transaction' | 'session';
  /** The most connections to one database. */
  poolSize: number;
}

export interface Pgbouncer {
  /** The URL of a database by this way. */
  through: (databaseUrl: string) => string;
  stop: () => Promise<void>;
}

/** A pgbouncer on 127.0.0.1, with the settings that Debian ships but for these, which ends with this process at the latest. */
export async function startPgbouncer({ serverUrl, mode, poolSize }: PgbouncerOptions): Promise<Pgbouncer> {
  const { hostname, port: serverPort, username } = new URL(serverUrl);
  const directory = mkdtempSync(join(tmpdir(), 'petstore-pgbouncer-'));
  const file = join(directory, 'pgbouncer.ini');
  const users = join(directory, 'users.txt');
  writeFileSync(users, `"${username}" ""\n`);
  const server = new ServerProcess({ directory, temporary: true, signal: 'SIGTERM' });
  const through = (databaseUrl: string, port: number) => {
    const url = new URL(databaseUrl);
    url.port = String(port);
    return url.href;
  };
  try {
    const port = await startOnPort(undefined, async port => {
      writeFileSync(
        file,
        `[databases]
* = host=${hostname} port=${serverPort}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
pool_mode = ${mode}
default_pool_size = ${poolSize}
max_client_conn = 500
server_login_retry = 1
`,
      );
      changeOwner(directory);
      server.start(debianProgram('pgbouncer'), [file], {
        ...unprivilegedUser(),
        cwd: directory,
        env: debianEnvironment(),
      });
      await server.untilReady('pgbouncer', () => accepts(through(serverUrl, port)));
    });
    return { through: databaseUrl => through(databaseUrl, port), stop: () => server.close() };
  } catch (error) {
    await server.close();
    throw error;
  }
}

async function accepts(connectionString: string): Promise<boolean> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 5_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.end();
    return true;
  } catch {
    return false;
  }
}
