import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { debianEnvironment, debianProgram } from './debian-programs.ts';
import { startOnPort } from './ports.ts';
import { ServerProcess } from './server-process.ts';

const documentedFile = join(import.meta.dirname, '../../deploy/haproxy.cfg');

/** HAProxy with `deploy/haproxy.cfg`, in which only the addresses are replaced. It never outlives this process. */
export class Haproxy {
  readonly #directory = mkdtempSync(join(tmpdir(), 'petstore-haproxy-'));
  readonly #server = new ServerProcess({ directory: this.#directory, temporary: true, signal: 'SIGTERM' });

  /** Starts HAProxy in front of the replicas on these ports and waits until one of them is ready. Returns the URL. */
  async start(replicaPorts: readonly [number, number]): Promise<string> {
    const port = await startOnPort(undefined, free => this.#startOn(free, replicaPorts));
    return `http://127.0.0.1:${port}`;
  }

  async stop(): Promise<void> {
    await this.#server.close();
  }

  async #startOn(port: number, [first, second]: readonly [number, number]): Promise<void> {
    const file = join(this.#directory, 'haproxy.cfg');
    const text = readFileSync(documentedFile, 'utf8')
      .replace('bind :8080', `bind 127.0.0.1:${port}`)
      .replace('127.0.0.1:8081', `127.0.0.1:${first}`)
      .replace('127.0.0.1:8082', `127.0.0.1:${second}`);
    writeFileSync(file, text);
    this.#server.start(debianProgram('haproxy'), ['-db', '-f', file], { env: debianEnvironment() });
    await this.#server.untilReady('HAProxy', async () => {
      const response = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
      await response?.arrayBuffer();
      return response?.status === 200;
    });
  }
}

const primaryFile = join(import.meta.dirname, '../../deploy/haproxy-postgresql.cfg');

interface PrimaryProxy {
  port: number;
  stop: () => Promise<void>;
}

/**
 * Starts HAProxy with `deploy/haproxy-postgresql.cfg`, in which only the addresses are replaced, in front of the PostgreSQL servers on
 * these ports, and waits until it has found the primary. Fails if HAProxy does not accept it together with `deploy/haproxy.cfg`.
 */
export async function startPrimaryProxy(serverPorts: readonly [number, number]): Promise<PrimaryProxy> {
  const env = debianEnvironment();
  const checked = spawnSync(debianProgram('haproxy'), ['-c', '-f', documentedFile, '-f', primaryFile], {
    env,
    encoding: 'utf8',
  });
  if (checked.status !== 0 || /warning/i.test(checked.stderr))
    throw new Error(checked.stdout + checked.stderr);
  const directory = mkdtempSync(join(tmpdir(), 'petstore-haproxy-'));
  const server = new ServerProcess({ directory, temporary: true, signal: 'SIGTERM' });
  const port = await startOnPort(undefined, async free => {
    const file = join(directory, 'haproxy.cfg');
    const text = readFileSync(primaryFile, 'utf8')
      .replace('bind 127.0.0.1:6432', `bind 127.0.0.1:${free}`)
      .replace('127.0.0.1:5433', `127.0.0.1:${serverPorts[0]}`)
      .replace('127.0.0.1:5434', `127.0.0.1:${serverPorts[1]}`);
    writeFileSync(file, text);
    server.start(debianProgram('haproxy'), ['-db', '-f', file], { env });
    // HAProxy logs a check whose result is new. A check of a standby that ends by its time-out would delay a promotion.
    await server.untilReady('HAProxy', async () =>
      /postgresql2 is DOWN, reason: Layer7 invalid response/.test(server.output()),
    );
  });
  return { port, stop: () => server.close() };
}
