import { forgetFuture, type LimitState } from './decide.ts';
import { minutesLater } from './windows.ts';

/**
 * Merges two views of one subject at `now`, in milliseconds since the Unix epoch. Takes the later of two windows, or the
 * larger counts of the same window; the ban that ends later; and the strikes and the wait from the view that saw the subject
 * last. Ignores what a clock that ran ahead has recorded, and states from before the last reset. Does not change the views.
 * `decide.lua` has the same rule for states in Redis: change both together.
 */
export function mergeStates(
  kept: Readonly<LimitState>,
  other: Readonly<LimitState>,
  now: number,
): LimitState {
  const [merged, seen] = [{ ...kept }, { ...other }];
  forgetFuture(merged, now);
  forgetFuture(seen, now);
  if (seen.resets !== merged.resets) return seen.resets > merged.resets ? seen : merged;
  const minute = Math.max(merged.minute, seen.minute);
  merged.fullMinutes =
    minutesLater(merged.fullMinutes, minute - merged.minute) |
    minutesLater(seen.fullMinutes, minute - seen.minute);
  if (seen.busyMinute > merged.busyMinute) {
    merged.busyMinute = seen.busyMinute;
    merged.busyLimit = seen.busyLimit;
  } else if (seen.busyMinute === merged.busyMinute) {
    merged.busyLimit = Math.max(merged.busyLimit, seen.busyLimit);
  }
  if (seen.minute > merged.minute) {
    merged.minute = seen.minute;
    merged.minuteUsed = seen.minuteUsed;
  } else if (seen.minute === merged.minute) {
    merged.minuteUsed = Math.max(merged.minuteUsed, seen.minuteUsed);
  }
  if (seen.day > merged.day) {
    merged.day = seen.day;
    merged.dayUsed = seen.dayUsed;
    merged.dayRejected = seen.dayRejected;
  } else if (seen.day === merged.day) {
    merged.dayUsed = Math.max(merged.dayUsed, seen.dayUsed);
    merged.dayRejected = Math.max(merged.dayRejected, seen.dayRejected);
  }
  if (seen.bannedUntil > merged.bannedUntil) {
    merged.bannedAt = seen.bannedAt;
    merged.bannedUntil = seen.bannedUntil;
    merged.bans = seen.bans;
  }
  const hasMoreStrikes = seen.strikes.length > merged.strikes.length;
  if (seen.seenAt > merged.seenAt || (seen.seenAt === merged.seenAt && hasMoreStrikes)) {
    merged.rejectedAt = seen.rejectedAt;
    merged.waitUntil = seen.waitUntil;
    merged.strikes = seen.strikes;
    merged.seenAt = seen.seenAt;
  }
  return merged;
}
