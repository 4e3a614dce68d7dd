import { setTimeout as sleep } from 'node:timers/promises';
import type { Replica } from './replica.ts';

/** The pause before a replica that ended is started again, and the pause after a failed start, in milliseconds. */
const RESTART_DELAY = 1_000;
const FAILED_START_DELAY = 5_000;

/** How often the logs of the replicas are read, in milliseconds, and the maximum number of lines printed from each. */
const LOG_INTERVAL = 500;
const MAX_LINES = 5;

const LEVELS: Record<number, string> = { 40: 'warning', 50: 'error', 60: 'fatal' };

/** Restarts replicas that have ended, and prints their ends, warnings and errors. */
export class Supervisor {
  readonly #replicas: readonly Replica[];
  readonly #print: (line: string) => void;
  readonly #stopping = new AbortController();
  readonly #keepers: Promise<void>[];
  readonly #logs: NodeJS.Timeout;

  /** The replicas must be running. */
  constructor(replicas: readonly Replica[], print: (line: string) => void) {
    this.#replicas = replicas;
    this.#print = print;
    this.#keepers = replicas.map(replica => this.#keepRunning(replica));
    this.#logs = setInterval(() => this.#copyLogs(), LOG_INTERVAL);
  }

  /** Stops the replicas. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    clearInterval(this.#logs);
    await Promise.all(this.#replicas.map(replica => replica.stop()));
    await Promise.all(this.#keepers);
  }

  async #keepRunning(replica: Replica): Promise<void> {
    const { signal } = this.#stopping;
    const name = `Replica ${replica.number}`;
    for (;;) {
      const how = await replica.ended();
      if (signal.aborted) return;
      this.#print(`${name}: ${how}; starting it again …`);
      let delay = RESTART_DELAY;
      for (let isBack = false; !isBack; ) {
        await sleep(delay, undefined, { signal }).catch(() => {});
        if (signal.aborted) return;
        isBack = await replica.start().then(
          () => true,
          error => {
            if (!signal.aborted) this.#print(`${name}: ${error.message}`);
            return false;
          },
        );
        delay = FAILED_START_DELAY;
      }
      this.#print(`${name} is back: process ${replica.pid}`);
    }
  }

  #copyLogs(): void {
    for (const replica of this.#replicas) {
      const lines = replica.newLogLines();
      for (const line of lines.slice(0, MAX_LINES))
        this.#print(`Replica ${replica.number}: ${readable(line)}`);
      const more = lines.length - MAX_LINES;
      if (more > 0) this.#print(`Replica ${replica.number}: … and ${more} more`);
    }
  }
}

/** Returns a readable form of a log line. */
function readable(line: string): string {
  try {
    const { level, msg, err } = JSON.parse(line);
    return `${LEVELS[level] ?? level}: ${msg}${err?.message ? ` (${err.message})` : ''}`;
  } catch {
    return line;
  }
}
