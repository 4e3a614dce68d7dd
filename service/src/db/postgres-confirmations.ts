import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import { SECOND } from '../kit/clock.ts';
import { DatabaseUnavailable } from './database.ts';
import { NotConfirmed } from './postgres-errors.ts';

/** How long to wait until the next probe, in milliseconds, after one for which this process was too busy. */
const PROBE_PAUSE = SECOND / 10;

/** How long the server may take to read a request to cancel a commit, and then to end the commit, in milliseconds. */
export const CANCEL_TIMEOUT = SECOND;

/**
 * A write that needs a commit, and changes no row: a row could be locked by the probe of another replica, whose commit is not confirmed
 * either.
 */
export const CONFIRMATION_PROBE = "SELECT pg_logical_emit_message(true, 'petstore', '')";

export interface ConfirmationOptions {
  /** Commits `CONFIRMATION_PROBE`. */
  probe: () => Promise<unknown>;
  /** Asks the server to end the commit of a connection. Resolves with whether the server still has it; `false` if it does not respond. */
  stillCommits: (client: PoolClient) => Promise<boolean>;
  onStatus: (status: 'unconfirmed' | 'confirmed') => void;
}

/** Whether a synchronous standby confirms commits. While it does not, only the probe for it writes. */
export class Confirmations {
  readonly #options: ConfirmationOptions;
  /** By the error of a cancelled commit: resolves when its connection is closed. */
  readonly #closings = new WeakMap<object, Promise<void>>();
  #isConfirmed = true;
  #isClosing = false;

  constructor(options: ConfirmationOptions) {
    this.#options = options;
  }

  /** Throws DatabaseUnavailable while commits are not confirmed. */
  rejectUnconfirmed(): void {
    if (!this.#isConfirmed) throw new DatabaseUnavailable(undefined, 'unconfirmed');
  }

  /** From a commit that was not confirmed on, rejects writes until another one is. Its wait ends as soon as the standby is back. */
  note(error: unknown): void {
    if (!isNotConfirmed(error) || !this.#isConfirmed || this.#isClosing) return;
    this.#isConfirmed = false;
    this.#options.onStatus('unconfirmed');
    void (async () => {
      for (;;) {
        const failure = await this.#options.probe().catch(error => error);
        // The probe also fails because the store is closed, which confirms nothing.
        if (this.#isClosing) return;
        if (isNotConfirmed(failure)) await this.#closings.get(failure);
        else if (failure instanceof DatabaseUnavailable && failure.what === 'busy')
          await sleep(PROBE_PAUSE, undefined, { ref: false });
        // Another failure is found, and reported, by the next write.
        else break;
      }
      this.#isConfirmed = true;
      this.#options.onStatus('confirmed');
    })();
  }

  /**
   * Closes a connection whose commit was cancelled. Until the server has ended the commit, the connection keeps its place in the pool:
   * the server would have another one in addition. Only a server that hangs, and so accepts no further connections, loses the place.
   */
  discard(client: PoolClient, commit: Promise<unknown>, error: object): void {
    this.#closings.set(error, this.#close(client, commit));
  }

  close(): void {
    this.#isClosing = true;
  }

  async #close(client: PoolClient, commit: Promise<unknown>): Promise<void> {
    let hasEnded = false;
    const ended = commit
      .catch(() => {})
      .then(() => {
        hasEnded = true;
      });
    do await Promise.race([ended, sleep(CANCEL_TIMEOUT, undefined, { ref: false })]);
    while (!hasEnded && (await this.#options.stillCommits(client)));
    // The server hangs, or it has ended the commit and the network has lost the response.
    if (!hasEnded) streamOf(client).destroy();
    client.release(true);
  }
}

function isNotConfirmed(error: unknown): error is DatabaseUnavailable {
  return error instanceof DatabaseUnavailable && error.cause instanceof NotConfirmed;
}

function streamOf(client: PoolClient): Socket {
  return (client as PoolClient & { connection: { stream: Socket } }).connection.stream;
}
