import { setTimeout as sleep } from 'node:timers/promises';
import type { PoolClient, QueryConfig, QueryResult } from 'pg';
import { sendTogether } from './postgres-batching.ts';
import { CANCEL_TIMEOUT } from './postgres-confirmations.ts';
import { NotConfirmed, RolledBack, toCommitFailure, toSentFailure } from './postgres-errors.ts';

const NOT_CONFIRMED = 'The server stored the change, but did not confirm it in time';

/** The longest time that a timer accepts, in milliseconds: about 24 days. */
const NO_TIMEOUT = 2 ** 31 - 1;

/**
 * Commits the transaction of a connection, whose earlier statements have these responses. Rejects with DatabaseUnavailable `unknown` when
 * the connection breaks before the server responds, or when a standby does not confirm the commit within `timeout` milliseconds.
 * PostgreSQL waits for a synchronous standby without a limit, even when the client has closed its connection: so the commit is cancelled,
 * which ends only this wait. `cancel` gets the response to COMMIT, asks the server, and resolves with whether it has read the request.
 */
export async function commitWithin(
  timeout: number,
  client: PoolClient,
  responses: readonly Promise<unknown>[],
  cancel: (committed: Promise<QueryResult>) => Promise<boolean>,
): Promise<void> {
  sendTogether(client, process.nextTick);
  const committed = client.query({ text: 'COMMIT', query_timeout: NO_TIMEOUT } as QueryConfig);
  const overdue = Promise.withResolvers<never>();
  let isCancelled = false;
  const cancelling = setTimeout(async () => {
    isCancelled = true;
    const isRead = await cancel(committed);
    if (isRead)
      await Promise.race([committed.catch(() => {}), sleep(CANCEL_TIMEOUT, undefined, { ref: false })]);
    overdue.reject(isRead ? new NotConfirmed(NOT_CONFIRMED) : new Error('The server does not respond'));
  }, timeout);
  // Without a response to an earlier statement there is none to COMMIT.
  committed.catch(() => {});
  overdue.promise.catch(() => {});
  try {
    await Promise.all(responses);
  } catch (error) {
    clearTimeout(cancelling);
    throw toSentFailure(error);
  }
  try {
    const { command } = await Promise.race([committed, overdue.promise]);
    if (isCancelled) throw new NotConfirmed(NOT_CONFIRMED);
    if (command === 'COMMIT') return;
    throw new RolledBack(`The transaction ended with ${command}: a failure in it was ignored`);
  } catch (error) {
    throw toCommitFailure(error);
  } finally {
    clearTimeout(cancelling);
  }
}
