import { type Clock, onAbort } from './clock.ts';
import { dateAfter, type PetStoreError, WaitTooLongError } from './errors.ts';

/** Why a client sends nothing: the requests of a window are used up, the key is banned, or the service is unavailable, also because of a proxy's 429. */
export type WaitReason = 'limit' | 'ban' | 'unavailable';

/** A wait of all calls of a client. */
export interface Wait {
  reason: WaitReason;
  /** How long it lasts from now. */
  milliseconds: number;
  /** When it ends, by the clock of this machine. */
  retryAt: Date;
  /** The error that started the wait. There is none if the client stopped before it was rejected. */
  error?: PetStoreError;
}

interface PacerOptions {
  clock: Clock;
  maxConcurrent: number;
  onWait?: ((wait: Wait) => void) | undefined;
}

/** What a call needs to know while it waits for its turn. */
interface Turn {
  /** The longest wait, in milliseconds. */
  maxWait: number;
  maxRetries: number;
  /** Whether the response may take long by design, so that other calls cannot wait for it to learn the limits. */
  isSlow?: boolean;
  /** As how many requests it counts. */
  cost: number;
  signal?: AbortSignal;
}

/** Why a request has to be sent again, and how long to wait at least. */
type Setback = Omit<Wait, 'retryAt'>;

/** What a response has reported about a window. */
interface Window {
  /** The headers of the response. */
  headers: Headers;
  remaining: number;
  /** By the client's clock. */
  resetAt: number;
}

interface Waiter extends Turn {
  start: (epoch: number) => void;
  fail: (error: unknown) => void;
}

interface PacerState {
  /** By name. */
  windows: ReadonlyMap<string, Window>;
  /** The number of requests without a response. A batch counts as its operations. */
  inFlight: number;
  /** The number of calls that wait to send a request. */
  waiting: number;
  /** The present wait; `undefined` if there is none. */
  wait: Wait | undefined;
}

export interface Pacer {
  state: () => PacerState;
  /**
   * Resolves when the call may send a request, with the epoch in which it sends it. Rejects with `WaitTooLongError` if it would
   * wait longer than `maxWait`, with the error of the service if that is unavailable for longer, and with the reason of the
   * signal when it is aborted.
   */
  enter: (turn: Turn) => Promise<number>;
  /** Ends a request that was sent in an epoch, at a time of `clock`, with the headers of its response unless it is sent again. */
  leave: (turn: Turn, epoch: number, sentAt: number, headers?: Headers) => void;
  /** Starts a wait before a request that failed is sent again. Returns the number of waits since the last success. */
  stop: (epoch: number, setback: Setback) => number;
}

/** The longest random addition to a wait, in milliseconds. */
const MAX_SPREAD = 10_000;
/** Returns the longest random addition to a wait after some failures, in milliseconds. */
export const spreadAfter = (failures: number): number => Math.min(MAX_SPREAD, 1000 * 2 ** failures);
/** Two responses whose windows end closer together, in milliseconds, are about the same window: windows last at least a minute. */
const SAME_WINDOW = 30_000;

/**
 * Decides when the calls of a client may send their requests. All calls share what each response reports:
 *
 * - The first request is sent alone, and so is the first one of each window and after each wait. Its response reports the limits.
 * - At most as many requests are in flight as the window has left, so the service never has to reject one.
 * - After a 429, a 503 or a broken connection nothing is sent until the wait is over. It ends at a random time, so that
 *   clients that were stopped together do not return together.
 */
export function createPacer({ clock, maxConcurrent, onWait }: PacerOptions): Pacer {
  /** The calls that wait, in their order. */
  const queue = new Set<Waiter>();
  const windows = new Map<string, Window>();
  let inFlight = 0;
  /** The number of times that the limits became unknown. A request that was sent earlier is not news. */
  let epoch = 1;
  /** The last epoch whose limits are known, and the one that a request in flight learns. */
  let knownEpoch = 0;
  let probedEpoch = 0;
  /** Waits since the last success. */
  let setbacks = 0;
  let cause: Setback;
  let waitEnd = 0;
  /** The end of the wait, with a random time that is added to it. */
  let wakeAt = 0;
  let isReported = false;
  let cancelTimer = () => {};

  function wait(): Wait | undefined {
    const milliseconds = wakeAt - clock.now();
    return milliseconds > 0 ? { ...cause, milliseconds, retryAt: dateAfter(milliseconds) } : undefined;
  }

  function enter(turn: Turn): Promise<number> {
    const { signal } = turn;
    let ignoreSignal: () => void;
    return new Promise<number>((start, fail) => {
      const waiter = { ...turn, start, fail };
      // The last failure was part of an earlier outage.
      if (inFlight + queue.size === 0 && !wait()) setbacks = 0;
      queue.add(waiter);
      ignoreSignal = onAbort(signal, () => reject(waiter, signal!.reason));
      sendNext();
    }).finally(() => ignoreSignal());
  }

  function leave({ cost, isSlow }: Turn, sentIn: number, sentAt: number, headers?: Headers): void {
    inFlight -= cost;
    if (sentIn === epoch) probedEpoch = 0;
    if (headers) {
      if (sentIn === epoch) {
        knownEpoch = epoch;
        setbacks = 0;
      }
      // The limits of a long poll are those of its beginning.
      learn(headers, isSlow ? sentAt : clock.now());
    }
    sendNext();
  }

  function stop(sentIn: number, setback: Setback): number {
    const isOutage = setback.reason === 'unavailable';
    // Requests that were in flight when the service became unavailable fail for the same reason: one wait is enough.
    if ((!isOutage || sentIn === epoch) && begin(setback)) setbacks++;
    for (const waiter of queue) if (isOutage && setbacks > waiter.maxRetries) reject(waiter, setback.error);
    return setbacks;
  }

  /** Reads the state of a window (draft-ietf-httpapi-ratelimit-headers-11) whose seconds count from a time. */
  function learn(headers: Headers, from: number): void {
    const [, name, left, seconds] = /^"(.+)";r=(\d+);t=(\d+)/.exec(headers.get('RateLimit') ?? '') ?? [];
    let remaining = Number(left);
    let resetAt = from + Number(seconds) * 1000;
    if (!name || resetAt < clock.now()) return;
    const known = windows.get(name);
    // Responses overtake each other, and seconds are rounded up. In doubt less remains, and the limits are learned again sooner.
    if (known && resetAt < known.resetAt + SAME_WINDOW) {
      remaining = Math.min(remaining, known.remaining);
      resetAt = Math.min(resetAt, known.resetAt);
    }
    windows.set(name, { headers, remaining, resetAt });
  }

  /** Starts a wait, unless the present one lasts as long. Returns whether it did. */
  function begin(next: Setback): boolean {
    const end = clock.now() + next.milliseconds;
    if (wait() && end < waitEnd + 1000) return false;
    cause = next;
    waitEnd = end;
    wakeAt = end + clock.random() * spreadAfter(setbacks);
    isReported = false;
    epoch++;
    return true;
  }

  /** Sends as many requests as the limits allow, or waits. */
  function sendNext(): void {
    cancelTimer();
    const now = clock.now();
    const [first] = queue;
    for (const [name, { remaining, resetAt }] of windows) {
      if (resetAt <= now) {
        windows.delete(name);
        epoch++;
      } else if (remaining < (inFlight ? 1 : (first?.cost ?? 1))) {
        const milliseconds = resetAt - now;
        // Smaller calls do not wait for a batch that is given up.
        if (remaining && milliseconds > first!.maxWait) {
          reject(first!, tooLong({ reason: 'limit', retryAt: dateAfter(milliseconds) }));
          sendNext();
          return;
        }
        begin({ reason: 'limit', milliseconds });
      }
    }
    const present = wait();
    if (present) holdBack(present);
    else
      for (const waiter of queue) {
        if (!hasRoom(waiter)) {
          // The response that makes room for it may arrive later than a new window begins.
          const ends = [...windows.values()].map(({ resetAt }) => resetAt - now);
          cancelTimer = clock.after(Math.min(...ends), sendNext);
          return;
        }
        queue.delete(waiter);
        if (!waiter.isSlow) probedEpoch = epoch;
        inFlight += waiter.cost;
        waiter.start(epoch);
      }
  }

  /** Rejects calls that do not wait as long as this, reports the wait once, and continues when it is over. */
  function holdBack(wait: Wait): void {
    const left = waitEnd - clock.now();
    for (const waiter of queue) if (left > waiter.maxWait) reject(waiter, tooLong(wait));
    if (queue.size === 0) return;
    cancelTimer = clock.after(wait.milliseconds, sendNext);
    if (isReported) return;
    isReported = true;
    // An error in it does not end the work of the client: the program gets it, uncaught.
    queueMicrotask(() => onWait?.(wait));
  }

  function hasRoom({ cost }: Waiter): boolean {
    if (inFlight >= maxConcurrent || (knownEpoch < epoch && probedEpoch === epoch)) return false;
    return [...windows.values()].every(({ remaining }) => inFlight + cost <= remaining);
  }

  /** Ends the wait of a call, if it still waits. */
  function reject(waiter: Waiter, error: unknown): void {
    if (!queue.delete(waiter)) return;
    // The timer would keep a program running that has nothing else to do.
    if (queue.size === 0) cancelTimer();
    waiter.fail(error);
  }

  const state = () => ({ windows, inFlight, waiting: queue.size, wait: wait() });
  return { state, enter, leave, stop };
}

/** Returns the error of a call that would have to wait longer than it may. */
export function tooLong({ reason, error, retryAt }: Omit<Wait, 'milliseconds'>): PetStoreError {
  if (reason === 'unavailable' && error) return error;
  return new WaitTooLongError(`The wait (${reason}) exceeds maxWait: retry at ${retryAt.toISOString()}`, {
    code: error?.code ?? 'rate_limit_exceeded',
    status: 429,
    retryAt,
    cause: error,
  });
}
