import type { Database, Queries } from '../../service/src/db/database.ts';

/** Queries of a store that measure how long it works on them, in milliseconds. Statements that run at once count once. */
export class TimedQueries implements Queries {
  readonly engine: Queries['engine'];
  readonly #db: Database;
  #running = 0;
  #since = 0;
  #time = 0;

  constructor(db: Database) {
    this.engine = db.engine;
    this.#db = db;
  }

  /** Returns the time since the last call. */
  takeTime(): number {
    const time = this.#time;
    this.#time = 0;
    return time;
  }

  get: Queries['get'] = (...query) => this.#timed(() => this.#db.get(...query));

  all: Queries['all'] = (...query) => this.#timed(() => this.#db.all(...query));

  /** The embedded store works on a query before it returns, other stores until the result arrives. */
  async #timed<T>(send: () => Promise<T>): Promise<T> {
    if (this.#running++ === 0) this.#since = performance.now();
    let isRunning = true;
    const end = () => {
      if (isRunning && --this.#running === 0) this.#time += performance.now() - this.#since;
      isRunning = false;
    };
    const result = send();
    if (this.engine === 'sqlite') end();
    return result.finally(end);
  }
}
