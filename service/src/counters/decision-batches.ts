/** Runs `decide.lua` with a number of keys, the keys, and one packed call for each key. Resolves with one result per key. */
export type RunDecisions = (keys: number, ...keysAndCalls: string[]) => Promise<string[]>;

/**
 * The maximum number of calls in one command: about 2 ms, for which Redis does nothing else. A group at the end may exceed it
 * by two.
 */
const MAX_CALLS = 100;

/** Calls that must be in the same command. */
interface Group {
  keys: readonly string[];
  calls: readonly string[];
  resolve: (results: string[]) => void;
  reject: (error: unknown) => void;
}

/**
 * Sends all calls of one event-loop turn as one command: a command costs this process and Redis several times as much as
 * a call in it.
 */
export class DecisionBatches {
  readonly #run: RunDecisions;
  #waiting: Group[] = [];

  constructor(run: RunDecisions) {
    this.#run = run;
  }

  /** Sends calls that belong together. Resolves with their results. */
  decide(keys: readonly string[], calls: readonly string[]): Promise<string[]> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) setImmediate(this.#sendAll);
      this.#waiting.push({ keys, calls, resolve, reject });
    });
  }

  readonly #sendAll = (): void => {
    const waiting = this.#waiting;
    this.#waiting = [];
    let [batch, size]: [Group[], number] = [[], 0];
    for (const group of waiting) {
      batch.push(group);
      size += group.keys.length;
      if (size < MAX_CALLS) continue;
      this.#send(batch, size);
      [batch, size] = [[], 0];
    }
    if (size > 0) this.#send(batch, size);
  };

  #send(batch: readonly Group[], size: number): void {
    const keys: string[] = [];
    const calls: string[] = [];
    for (const group of batch) {
      keys.push(...group.keys);
      calls.push(...group.calls);
    }
    this.#run(size, ...keys, ...calls).then(
      results => {
        let next = 0;
        for (const { resolve, keys } of batch) {
          resolve(results.slice(next, next + keys.length));
          next += keys.length;
        }
      },
      error => {
        for (const { reject } of batch) reject(error);
      },
    );
  }
}
