import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startOnPort } from './ports.ts';
import { processIdOf } from './redis.ts';
import { argv0, findRedis, howToGetRedis } from './redis-program.ts';
import { ServerProcess } from './server-process.ts';

interface SentinelOptions {
  /** The name under which they monitor the primary. */
  name: string;
  primaryPort: number;
  /** The password of the primary and its replica. */
  password: string;
  /** The password of the sentinels. */
  sentinelPassword: string;
}

interface Sentinels {
  ports: readonly number[];
  stop: () => Promise<void>;
}

/** Starts three Redis Sentinels on 127.0.0.1, two of which promote a replica soon after the primary ended or hangs. */
export async function startSentinels(options: SentinelOptions): Promise<Sentinels> {
  const program = findRedis();
  if (program === undefined) throw new Error(howToGetRedis);
  const servers: ServerProcess[] = [];
  const stop = async () => void (await Promise.all(servers.map(server => server.close())));
  const start = async (): Promise<number> => {
    const server = new ServerProcess('sentinel');
    const { directory } = server;
    servers.push(server);
    const file = join(directory, 'sentinel.conf');
    return startOnPort(undefined, async port => {
      // The sentinel adds what it finds out to the file.
      writeFileSync(file, configurationOf(options, port, directory));
      server.start(program, [file, '--sentinel'], { argv0, cwd: directory });
      await server.untilReady(
        'Redis Sentinel',
        async () => (await processIdOf(port, options.sentinelPassword)) === server.pid,
      );
    });
  };
  try {
    return { ports: [await start(), await start(), await start()], stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function configurationOf(
  { name, primaryPort, password, sentinelPassword }: SentinelOptions,
  port: number,
  directory: string,
): string {
  return `
bind 127.0.0.1
port ${port}
dir ${directory}
requirepass ${sentinelPassword}
sentinel sentinel-pass ${sentinelPassword}
sentinel monitor ${name} 127.0.0.1 ${primaryPort} 2
sentinel auth-pass ${name} ${password}
sentinel down-after-milliseconds ${name} 1000
sentinel failover-timeout ${name} 5000
`;
}
