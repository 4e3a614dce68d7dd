import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { debianEnvironment, debianProgram } from './debian-programs.ts';
import { startOnPort } from './ports.ts';
import { query } from './postgres.ts';
import { ServerProcess } from './server-process.ts';
import { changeOwner, unprivilegedUser } from './unprivileged.ts';

interface PgbouncerOptions {
  /** The URL of the PostgreSQL server, whose users need no password. */
  serverUrl: string;
  /** When another client gets a connection of the server: after each transaction, or when the client disconnects. */
  mode: 'transaction' | 'session';
  /** The maximum number of connections to one database. */
  poolSize: number;
}

export interface Pgbouncer {
  /** Returns the URL of a database through the pgbouncer. */
  through: (databaseUrl: string) => string;
  stop: () => Promise<void>;
}

/** Starts a pgbouncer on 127.0.0.1 with Debian's settings except for these. It never outlives this process. */
export async function startPgbouncer({ serverUrl, mode, poolSize }: PgbouncerOptions): Promise<Pgbouncer> {
  const { hostname, port: serverPort, username } = new URL(serverUrl);
  const server = new ServerProcess('pgbouncer');
  const { directory } = server;
  const file = join(directory, 'pgbouncer.ini');
  const users = join(directory, 'users.txt');
  writeFileSync(users, `"${username}" ""\n`);
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

function accepts(url: string): Promise<boolean> {
  return query(url, 'select 1').then(
    () => true,
    () => false,
  );
}
