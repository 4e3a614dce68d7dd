import {
  ApiError,
  type Batch,
  type BatchEntry,
  type BatchOutcome,
  type BatchResult,
  type PostOptions,
} from '@petstore/client';
import type { Session } from '../app/session.ts';

/** The most operations of a batch: more would make the progress coarse and other clients wait. */
const MOST = 100;

/** What a run needs of the session. */
export type BatchSession = Pick<Session, 'store' | 'account' | 'onEnd'>;

/** An item, and the results of its operations. */
export interface ItemResult<T> {
  item: T;
  results: readonly BatchResult[];
  /** The message of the first operation that failed. */
  error: string | undefined;
  /** Whether an earlier request with the same key has run the operations. */
  isReplayed: boolean;
}

export interface BatchRun<T> {
  /** Adds the operations of an item to a batch. */
  add: (batch: Batch, item: T) => readonly BatchEntry[];
  /** The most operations that an item has. */
  perItem: number;
  /**
   * The `Idempotency-Key` and `X-Request-Id` of the batch of an item. Each item has one of its own then, whose operations succeed or fail
   * together.
   */
  keyOf?: (item: T) => string;
  /** Is called before each batch with its items. */
  onSend?: (items: readonly T[]) => void;
  /** Is called after each batch with the results of its items. */
  onResults: (results: readonly ItemResult<T>[]) => void;
  /** Ends the run before its next batch. A batch that waits for the limit is not sent any more. */
  signal?: AbortSignal;
}

/**
 * Sends the operations of many items in batches, in which each operation succeeds or fails by itself, unless each item has its own. At the
 * limit of the API key it waits. It also ends when the user signs out. Rejects with the error of a batch that was rejected as a whole; the
 * results of the batches before are known then.
 */
export async function runInBatches<T>(
  session: BatchSession,
  items: readonly T[],
  { add, perItem, keyOf, onSend, onResults, signal }: BatchRun<T>,
): Promise<void> {
  const { store, onEnd } = session;
  const isAtomic = keyOf !== undefined;
  const waiting = new AbortController();
  let isStopped = signal?.aborted ?? false;
  const stop = () => {
    isStopped = true;
    const { wait, inFlight } = store.limits;
    // A batch that was sent may have been executed: its results have to be known.
    if (wait && wait.reason !== 'unavailable' && inFlight === 0) waiting.abort();
  };
  signal?.addEventListener('abort', stop);
  const ignoreEnd = onEnd(stop);
  try {
    for (let at = 0; at < items.length && !isStopped; ) {
      const size = isAtomic ? 1 : Math.max(1, Math.floor(sizeFor(session) / perItem));
      const part = items.slice(at, at + size);
      const batch = store.batch({ atomic: isAtomic });
      const entries = part.map(item => add(batch, item));
      const options = keyOf && keyed(keyOf(part[0]!));
      onSend?.(part);
      const outcome = await batch.run({ signal: waiting.signal, ...options }).catch((error: unknown) => {
        if (isAtomic && error instanceof ApiError && error.failedOperation !== undefined) return error;
        throw error;
      });
      onResults(
        part.map((item, i) =>
          outcome instanceof ApiError
            ? { item, results: [], error: reasonOf(outcome), isReplayed: false }
            : resultOf(item, entries[i]!, outcome),
        ),
      );
      at += part.length;
    }
  } catch (error) {
    if (error !== waiting.signal.reason) throw error;
  } finally {
    signal?.removeEventListener('abort', stop);
    ignoreEnd();
  }
}

/** The options of a batch that is executed once, and whose changes have its key in the history. */
export function keyed(key: string): PostOptions {
  return { idempotencyKey: key, headers: { 'X-Request-Id': key } };
}

/**
 * The number of operations of the next batch: what is left of the present minute or day, and at most half of what the plan has, so
 * that the lists stay live meanwhile.
 */
function sizeFor({ store, account }: BatchSession): number {
  const { minute, day } = account.windows;
  const most = Math.min(MOST, Math.max(1, Math.floor(Math.min(minute.limit, day.limit) / 2)));
  const left = Math.min(...store.limits.windows.map(({ remaining }) => remaining), most);
  return left > 0 ? left : most;
}

function resultOf<T>(
  item: T,
  entries: readonly BatchEntry[],
  { all, isReplayed }: BatchOutcome,
): ItemResult<T> {
  const results = entries.map(({ index }) => all[index]!);
  return { item, results, error: results.find(({ error }) => error)?.error?.message, isReplayed };
}

/** Why a batch was rejected, without the number of the operation, which the user does not know. */
export function reasonOf({ message }: Error): string {
  return message.replace(/^Operation \d+: /, '');
}
