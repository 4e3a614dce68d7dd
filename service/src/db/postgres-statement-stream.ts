import type { PoolClient, QueryConfig, QueryResult } from 'pg';
import { sendTogether } from './postgres-batching.ts';
import { awaitResponse, isAborted } from './postgres-errors.ts';
import type { Sessions } from './postgres-sessions.ts';
import type { RowsAhead } from './rows-ahead.ts';

/** The statements of a transaction, each sent immediately, without waiting for the results of earlier ones. */
export class StatementStream {
  readonly #client: PoolClient;
  readonly #sessions: Sessions;
  readonly #ahead: RowsAhead | undefined;
  /** The responses that only the commit awaits: to BEGIN, and to statements that were sent without waiting. */
  readonly responses: Promise<unknown>[] = [];

  /** Begins the transaction with `begin`. Rows of `ahead` are forgotten when a statement may change them. */
  constructor(client: PoolClient, sessions: Sessions, begin: string, ahead: RowsAhead | undefined) {
    this.#client = client;
    this.#sessions = sessions;
    this.#ahead = ahead;
    // BEGIN is sent with the first statement, which follows in this turn.
    sendTogether(client, process.nextTick);
    this.#awaitAtCommit(client.query(begin));
  }

  /** Sends a statement without waiting. */
  post(query: QueryConfig): void {
    this.#awaitAtCommit(awaitResponse(this.#send(query)));
  }

  /** Sends a statement and resolves with its result. */
  async request(query: QueryConfig): Promise<QueryResult> {
    try {
      return await awaitResponse(this.#send(query));
    } catch (error) {
      if (isAborted(error)) await Promise.all(this.responses);
      throw error;
    }
  }

  #send(query: QueryConfig): Promise<QueryResult> {
    this.#ahead?.forgetFor(query.text);
    sendTogether(this.#client, process.nextTick);
    return this.#client.query(this.#sessions.statement(query));
  }

  #awaitAtCommit(response: Promise<unknown>): void {
    // Later statements and the commit fail with it and report it.
    response.catch(() => {});
    this.responses.push(response);
  }
}
