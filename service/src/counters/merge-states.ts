import { forgetFuture, type LimitState } from './decide.ts';

/**
 * What holds of two views of one subject at `now`, in milliseconds since the Unix epoch. Of each window the later holds, and
 * of the same window the larger counts; of bans the one that ends later; what was told and the strikes as they were seen
 * last. What a clock that ran ahead noted does not count, and nothing from before the last reset. The views stay as they are.
 * `decide.lua` has the same rule for states in Redis: change both.
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
    merged.toldAt = seen.toldAt;
    merged.toldUntil = seen.toldUntil;
    merged.strikes = seen.strikes;
    merged.seenAt = seen.seenAt;
  }
  return merged;
}
