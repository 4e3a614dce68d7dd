import type { LimitState } from './decide.ts';

/** The numbers of a state in the order in which they are packed; `decide.lua` has the same. */
const numbers = [
  'minute',
  'minuteUsed',
  'day',
  'dayUsed',
  'dayRefused',
  'toldAt',
  'toldUntil',
  'bannedAt',
  'bannedUntil',
  'bans',
  'seenAt',
] as const satisfies Exclude<keyof LimitState, 'strikes' | 'resets'>[];

/**
 * A state as text: whole numbers separated by spaces, the strikes last, separated by commas, `-` when there are none. The
 * number of resets is not in it: it is part of the name under which Redis keeps the state.
 */
export function packState(state: Readonly<LimitState>): string {
  const strikes = state.strikes.length === 0 ? '-' : state.strikes.join(',');
  return `${numbers.map(name => state[name]).join(' ')} ${strikes}`;
}

export function unpackState(text: string, resets = 0): LimitState {
  const parts = text.split(' ');
  const strikes = parts[11]!;
  return {
    minute: Number(parts[0]),
    minuteUsed: Number(parts[1]),
    day: Number(parts[2]),
    dayUsed: Number(parts[3]),
    dayRefused: Number(parts[4]),
    toldAt: Number(parts[5]),
    toldUntil: Number(parts[6]),
    bannedAt: Number(parts[7]),
    bannedUntil: Number(parts[8]),
    bans: Number(parts[9]),
    seenAt: Number(parts[10]),
    strikes: strikes === '-' ? [] : strikes.split(',').map(Number),
    resets,
  };
}
