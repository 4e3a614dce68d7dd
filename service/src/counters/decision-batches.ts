/** Runs `decide.lua` with a number of keys, the keys, and one packed call for each key. Resolves with one result per key. */
export type RunDecisions = (keys: number, ...keysAndCalls: string[]) => Promise<string[]>;

/** Something of each of two subjects that are decided together. */
export type Pair<T> = [T, T];

/**
 * The maximum number of calls in one command: about 2 ms, for which Redis does nothing else. A pair at the end may exceed it
 * by one.
 */
const MAX_CALLS = 100;

interface Waiting {
  key: string;
  call: string;
  /** Whether the next call must be in the same command. */
  isFirstOfPair: boolean;
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
    return this.#add(key, call, false);
  }

  /** Sends two calls that belong together. Resolves with their results. */
  decideBoth(keys: Pair<string>, calls: Pair<string>): Promise<Pair<string>> {
    return Promise.all([this.#add(keys[0], calls[0], true), this.#add(keys[1], calls[1], false)]);
  }

  #add(key: string, call: string, isFirstOfPair: boolean): Promise<string> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) setImmediate(this.#sendAll);
      this.#waiting.push({ key, call, isFirstOfPair, resolve, reject });
    });
  }

  readonly #sendAll = (): void => {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (let sent = 0; sent < waiting.length; ) {
      const end = sent + MAX_CALLS;
      const next = waiting[end - 1]?.isFirstOfPair ? end + 1 : end;
      this.#send(waiting.slice(sent, next));
      sent = next;
    }
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
