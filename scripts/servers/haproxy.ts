import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { debianEnvironment, debianProgram } from './debian-programs.ts';
import { isOk } from './is-ok.ts';
import { startOnPort } from './ports.ts';
import { ServerProcess } from './server-process.ts';

const serviceFile = join(import.meta.dirname, '../../deploy/haproxy.cfg');
const primaryFile = join(import.meta.dirname, '../../deploy/haproxy-postgresql.cfg');

type Pair<T> = readonly [T, T];

/** HAProxy with a file of `deploy/`, in which only the addresses are replaced. It never outlives this process. */
interface Proxy {
  port: number;
  stop: () => Promise<void>;
}

/** Starts HAProxy with `haproxy.cfg` in front of the replicas on these ports, and waits until one of them is ready. */
export function startServiceProxy(ports: Pair<number>): Promise<Proxy> {
  return start(serviceFile, 'bind :8080', ['127.0.0.1:8081', '127.0.0.1:8082'], ports, port =>
    isOk(`http://127.0.0.1:${port}/readyz`),
  );
}

/**
 * Starts HAProxy with `haproxy-postgresql.cfg` in front of the PostgreSQL servers on these ports, and waits until it has found the
 * primary. Fails if HAProxy does not accept the file together with `haproxy.cfg`.
 */
export async function startPrimaryProxy(ports: Pair<number>): Promise<Proxy> {
  const checked = spawnSync(debianProgram('haproxy'), ['-c', '-f', serviceFile, '-f', primaryFile], {
    env: debianEnvironment(),
    encoding: 'utf8',
  });
  if (checked.status !== 0 || /warning/i.test(checked.stderr))
    throw new Error(checked.stdout + checked.stderr);
  const servers = ['127.0.0.1:5433', '127.0.0.1:5434'] as const;
  // HAProxy logs a check whose result is new. A check of a standby that ends by its time-out would delay a promotion.
  return start(primaryFile, 'bind 127.0.0.1:6432', servers, ports, async (_, server) =>
    /postgresql2 is DOWN, reason: Layer7 invalid response/.test(server.output()),
  );
}

async function start(
  file: string,
  bind: string,
  servers: Pair<string>,
  ports: Pair<number>,
  isReady: (port: number, server: ServerProcess) => Promise<boolean>,
): Promise<Proxy> {
  const server = new ServerProcess('haproxy');
  const copy = join(server.directory, 'haproxy.cfg');
  const port = await startOnPort(undefined, async free => {
    const text = readFileSync(file, 'utf8')
      .replace(bind, `bind 127.0.0.1:${free}`)
      .replace(servers[0], `127.0.0.1:${ports[0]}`)
      .replace(servers[1], `127.0.0.1:${ports[1]}`);
    writeFileSync(copy, text);
    server.start(debianProgram('haproxy'), ['-db', '-f', copy], { env: debianEnvironment() });
    await server.untilReady('HAProxy', () => isReady(free, server));
  });
  return { port, stop: () => server.close() };
}
