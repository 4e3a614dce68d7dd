import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { LoadJob, LoadReply, LoadResult } from '../load.ts';
import { killAtExit } from './at-exit.ts';

export type { LoadResult } from '../load.ts';

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
  async run(job: LoadJob): Promise<LoadResult> {
    this.#child.send(job);
    const [reply] = (await Promise.race([once(this.#child, 'message'), this.#ended])) as [LoadReply];
    if ('error' in reply) throw new Error(reply.error);
    if (Object.keys(reply.result.unexpected).length > 0) {
      throw new Error(
        `Expected only ${job.expectedStatus}, also got ${JSON.stringify(reply.result.unexpected)}.`,
      );
    }
    return reply.result;
  }

  [Symbol.dispose](): void {
    this.#child.disconnect();
  }
}
