import { type LimitState, newState, type Terms } from './decide.ts';

/** The numbers of a state in the order in which they are packed. `decide-script.ts` hands the order on to `decide.lua`. */
export const packedNumbers = [
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
  return `${packedNumbers.map(name => state[name]).join(' ')} ${strikes}`;
}

export function unpackState(text: string, resets = 0): LimitState {
  const parts = text.split(' ');
  const state = newState(0, resets);
  for (const [i, name] of packedNumbers.entries()) state[name] = Number(parts[i]);
  const strikes = parts[packedNumbers.length]!;
  if (strikes !== '-') state.strikes = strikes.split(',').map(Number);
  return state;
}

/** Terms as `decide.lua` takes them. */
export function packTerms({ limits, bansLiftedAt, banRules }: Terms): (string | number)[] {
  const values = [limits.perMinute, limits.perDay, bansLiftedAt];
  if (!banRules) return values;
  const { forgiveness, strikes, strikesWithin, decay, durations } = banRules;
  return [...values, forgiveness, strikes, strikesWithin, decay, durations.join(',')];
}
