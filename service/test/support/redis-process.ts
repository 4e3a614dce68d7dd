import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';

/** A Redis of a test's own, which keeps nothing on disk and ends with the test. */
export interface RedisProcess {
  url: string;
  port: number;
  /** Sends a signal: SIGSTOP lets it hang, SIGCONT go on. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void;
  /** Ends it as a crash does. */
  kill(): Promise<void>;
  /** Starts it again, empty, where it was. */
  restart(): Promise<void>;
}

export async function startRedis(t: TestContext, args: string[] = []): Promise<RedisProcess> {
  const directory = mkdtempSync(join(tmpdir(), 'petstore-test-'));
  const port = await freePort();
  let child: ChildProcess;
  const start = async () => {
    child = spawn(
      'redis-server',
      ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', directory, ...args],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    await Promise.race([
      untilReady(child),
      once(child, 'exit').then(() => {
        throw new Error('redis-server ended at once');
      }),
    ]);
  };
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  await start();
  t.after(async () => {
    await kill();
    rmSync(directory, { recursive: true });
  });
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    signal: signal => void child.kill(signal),
    kill,
    restart: start,
  };
}

async function untilReady({ stdout }: ChildProcess): Promise<void> {
  for await (const line of createInterface({ input: stdout! })) {
    if (line.includes('Ready to accept connections')) break;
  }
  stdout!.resume();
}

/** One that leaves room for the port 10,000 above it, on which the nodes of a cluster talk to each other. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port < 55_536 ? port : freePort();
}
