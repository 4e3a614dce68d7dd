import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { LoadJob, LoadReply, LoadResult } from '../load.ts';
import { killAtExit } from './at-exit.ts';
import type { Server } from './servers.ts';

export type { LoadResult } from '../load.ts';

/** The number of connections of each load that measures throughput. */
export const CONNECTIONS = 64;

/** A server and the requests to send to it, all of one method. */
export interface Load {
  server: Server;
  requests: string[];
  /** `CONNECTIONS` if left out. */
  connections?: number;
  /** Whether the part of the service that is compared is on; without one if left out. */
  part?: 'on' | 'off';
}

/** Runs jobs one after another in one process, so that its code stays warm. */
export class LoadGenerator implements Disposable {
  readonly #child: ChildProcess;
  readonly #ended: Promise<never>;

  constructor() {
    this.#child = fork(fileURLToPath(import.meta.resolve('../load.ts')), {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    killAtExit(this.#child);
    this.#ended = once(this.#child, 'exit').then(() => {
      throw new Error('The load generator ended');
    });
    // Only `run` reports this error: the process also exits when the generator is disposed of.
    this.#ended.catch(() => {});
  }

  /** Throws if a response had an unexpected status, because such a run measures something else. */
  async run(
    { server, requests, connections = CONNECTIONS, part }: Load,
    seconds: number,
  ): Promise<LoadResult> {
    if (part) await server.switchPart(part);
    const expectedStatus = requests[0]!.startsWith('POST') ? 201 : 200;
    const { port, pid: serverPid } = server;
    const job: LoadJob = { port, connections, seconds, requests, expectedStatus, serverPid };
    this.#child.send(job);
    const [reply] = (await Promise.race([once(this.#child, 'message'), this.#ended])) as [LoadReply];
    if ('error' in reply) throw new Error(reply.error);
    if (Object.keys(reply.result.unexpected).length > 0) {
      throw new Error(
        `Expected only ${expectedStatus}, also got ${JSON.stringify(reply.result.unexpected)}.`,
      );
    }
    return reply.result;
  }

  [Symbol.dispose](): void {
    this.#child.disconnect();
  }
}
