/** Runs `decide.lua` with a number of keys, the keys, and one packed call for each key. Resolves with one result per key. */
export type RunDecisions = (keys: number, ...keysAndCalls: string[]) => Promise<string[]>;

/** The maximum number of calls in one command: about 2 ms, for which Redis does nothing else. */
const MAX_CALLS = 100;

interface Waiting {
  key: string;
  call: string;
  resolve: (result: string) => void;
  reject: (error: unknown) => void;
}

/**
 * Sends all calls of one event-loop turn as one command: a command costs this process and Redis several times as much as
 * a call in it.
 */
export class DecisionBatches {
  readonly #run: RunDecisions;
  #waiting: Waiting[] = [];

  constructor(run: RunDecisions) {
    this.#run = run;
  }

  decide(key: string, call: string): Promise<string> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) setImmediate(this.#sendAll);
      this.#waiting.push({ key, call, resolve, reject });
    });
  }

  readonly #sendAll = (): void => {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (let sent = 0; sent < waiting.length; sent += MAX_CALLS)
      this.#send(waiting.slice(sent, sent + MAX_CALLS));
  };

  #send(batch: readonly Waiting[]): void {
    const keys = batch.map(({ key }) => key);
    const calls = batch.map(({ call }) => call);
    this.#run(batch.length, ...keys, ...calls).then(
      results => {
        for (const [i, { resolve }] of batch.entries()) resolve(results[i]!);
      },
      error => {
        for (const { reject } of batch) reject(error);
      },
    );
  }
}
