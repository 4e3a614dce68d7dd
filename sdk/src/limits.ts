import type { Client } from './client.ts';
import { dateAfter } from './errors.ts';
import type { Wait } from './pacer.ts';

/** What a client knows about a window of its API key. */
export interface WindowState {
  /** `minute` or `day`; for a publishable key also `visitor-minute` and `network-minute`, for example. */
  name: string;
  limit: number;
  /** Requests left after the last response. */
  remaining: number;
  /** The end of the window, by the clock of this machine. */
  resetAt: Date;
}

export interface Limits {
  /** The windows that the service has reported. The service reports the one with the fewest requests left. */
  windows: WindowState[];
  /** Requests without a response. */
  inFlight: number;
  /** Calls that wait to send a request. */
  waiting: number;
  /** The present wait. */
  wait: Wait | undefined;
}

/** Returns what is known about the limits of the API key. */
export function limitsOf({ clock, pacer }: Client): Limits {
  const { windows, ...rest } = pacer.state();
  const known = Array.from(windows, ([name, { headers, remaining, resetAt }]) => ({
    name,
    limit: Number(headers.get('X-RateLimit-Limit')),
    remaining,
    resetAt: dateAfter(resetAt - clock.now()),
  }));
  return {
    windows: known.filter(({ resetAt }) => resetAt > dateAfter(0)),
    ...rest,
  };
}
