/** Runs `decide.lua` with a number of keys, the keys, and one packed call for each key. Resolves with one result per key. */
export type RunDecisions = (keys: number, ...keysAndCalls: string[]) => Promise<string[]>;

/**
 * The maximum number of calls in one command: about 2 ms, for which Redis does nothing else. A group at the end may exceed it
 * by two.
 */
const MAX_CALLS = 100;

interface Waiting {
  key: string;
  call: string;
  /** Whether the next call must be in the same command. */
  isFollowed: boolean;
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

  /** Sends calls that belong together. Resolves with their results. */
  decideTogether(keys: readonly string[], calls: readonly string[]): Promise<string[]> {
    return Promise.all(keys.map((key, i) => this.#add(key, calls[i]!, i < keys.length - 1)));
  }

  #add(key: string, call: string, isFollowed: boolean): Promise<string> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) setImmediate(this.#sendAll);
      this.#waiting.push({ key, call, isFollowed, resolve, reject });
    });
  }

  readonly #sendAll = (): void => {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (let sent = 0; sent < waiting.length; ) {
      let next = sent + MAX_CALLS;
      while (waiting[next - 1]?.isFollowed) next++;
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
