/** Runs `decide.lua` with a number of keys, these, and a question about each. Returns an answer to each. */
export type RunDecisions = (keys: number, ...keysAndQuestions: string[]) => Promise<string[]>;

/** The most questions of one command: some 2 ms, for which Redis does nothing else. */
const MOST = 100;

interface Waiting {
  key: string;
  question: string;
  resolve: (answer: string) => void;
  reject: (error: unknown) => void;
}

/**
 * Sends what one turn of the event loop asks as one command: a command costs this process and Redis several times as much
 * as a question in it.
 */
export class DecisionBatches {
  readonly #run: RunDecisions;
  #waiting: Waiting[] = [];

  constructor(run: RunDecisions) {
    this.#run = run;
  }

  decide(key: string, question: string): Promise<string> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) setImmediate(this.#sendAll);
      this.#waiting.push({ key, question, resolve, reject });
    });
  }

  readonly #sendAll = (): void => {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (let sent = 0; sent < waiting.length; sent += MOST) this.#send(waiting.slice(sent, sent + MOST));
  };

  #send(batch: readonly Waiting[]): void {
    const keys = batch.map(({ key }) => key);
    const questions = batch.map(({ question }) => question);
    this.#run(batch.length, ...keys, ...questions).then(
      answers => {
        for (const [i, { resolve }] of batch.entries()) resolve(answers[i]!);
      },
      error => {
        for (const { reject } of batch) reject(error);
      },
    );
  }
}
