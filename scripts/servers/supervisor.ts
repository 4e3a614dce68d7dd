import { setTimeout as sleep } from 'node:timers/promises';
import type { Replica } from './replica.ts';

/** How long after a replica has ended it is started again, and after a start that failed, in milliseconds. */
const RESTART_DELAY = 1_000;
const FAILED_START_DELAY = 5_000;

/** How often the replicas' logs are looked at, in milliseconds, and the most lines of each that are told then. */
const LOG_INTERVAL = 500;
const MOST_LINES = 5;

const LEVELS: Record<number, string> = { 40: 'warning', 50: 'error', 60: 'fatal' };

/** Starts replicas again that have ended, and tells of that and of their warnings and errors. */
export class Supervisor {
  readonly #replicas: readonly Replica[];
  readonly #tell: (line: string) => void;
  readonly #stopping = new AbortController();
  readonly #keepers: Promise<void>[];
  readonly #logs: NodeJS.Timeout;

  /** The replicas run already. */
  constructor(replicas: readonly Replica[], tell: (line: string) => void) {
    this.#replicas = replicas;
    this.#tell = tell;
    this.#keepers = replicas.map(replica => this.#keepRunning(replica));
    this.#logs = setInterval(() => this.#copyLogs(), LOG_INTERVAL);
  }

  /** Ends the replicas. */
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
      this.#tell(`${name}: ${how}; starting it again …`);
      let delay = RESTART_DELAY;
      for (let isBack = false; !isBack; ) {
        await sleep(delay, undefined, { signal }).catch(() => {});
        if (signal.aborted) return;
        isBack = await replica.start().then(
          () => true,
          error => {
            if (!signal.aborted) this.#tell(`${name}: ${error.message}`);
            return false;
          },
        );
        delay = FAILED_START_DELAY;
      }
      this.#tell(`${name} is back: process ${replica.pid}`);
    }
  }

  #copyLogs(): void {
    for (const replica of this.#replicas) {
      const lines = replica.newLogLines();
      for (const line of lines.slice(0, MOST_LINES)) this.#tell(`Replica ${replica.number}: ${told(line)}`);
      const more = lines.length - MOST_LINES;
      if (more > 0) this.#tell(`Replica ${replica.number}: … and ${more} more`);
    }
  }
}

/** A line of a log for a person to read. */
function told(line: string): string {
  try {
    const { level, msg, err } = JSON.parse(line);
    return `${LEVELS[level] ?? level}: ${msg}${err?.message ? ` (${err.message})` : ''}`;
  } catch {
    return line;
  }
}
