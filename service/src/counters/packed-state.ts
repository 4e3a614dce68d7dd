import { type LimitState, newState, type Outcome, type Terms, type Verdict } from './decide.ts';

/** The numbers of a state in the order in which they are packed. `decide-script.ts` passes the order to `decide.lua`. */
export const packedNumbers = [
  'minute',
  'minuteUsed',
  'fullMinutes',
  'busyMinute',
  'busyLimit',
  'day',
  'dayUsed',
  'dayRejected',
  'rejectedAt',
  'waitUntil',
  'bannedAt',
  'bannedUntil',
  'bans',
  'seenAt',
] as const satisfies Exclude<keyof LimitState, 'strikes' | 'resets'>[];

/**
 * Packs a state as text: whole numbers separated by spaces, the strikes last, separated by commas, `-` when there are none.
 * `resets` is not included: it is part of the state's key in Redis.
 */
export function packState(state: Readonly<LimitState>): string {
  const strikes = state.strikes.length === 0 ? '-' : state.strikes.join(',');
  return `${packedNumbers.map(name => state[name]).join(' ')} ${strikes}`;
}

export function unpackState(text: string, resets = 0): LimitState {
  return stateOf(text.split(' '), 0, resets);
}

/** Unpacks the state whose numbers start at index `start` of `words`. */
function stateOf(words: readonly string[], start: number, resets: number): LimitState {
  const state = newState(0, resets);
  for (const [i, name] of packedNumbers.entries()) state[name] = Number(words[start + i]);
  const strikes = words[start + packedNumbers.length]!;
  if (strikes !== '-') state.strikes = strikes.split(',').map(Number);
  return state;
}

/** A call of `decide.lua` for one subject. */
export interface ScriptCall {
  /**
   * A number decides a request that counts as that many, as `decide` does; `look` only merges the seed. `of3` starts
   * a group of three: one request counts for this subject and for those of the next two calls if all have room, and otherwise
   * for none. All calls of a group must be in the same command.
   */
  what: number | 'look' | `of${number}`;
  /** Milliseconds since the Unix epoch; `undefined` for the clock of Redis. */
  now: number | undefined;
  /** The shortest time for which Redis stores the state, in milliseconds. */
  ttl: number;
  terms: Terms;
  /** The state of the subject in this process; `undefined` when Redis already has it. */
  seed: Readonly<LimitState> | undefined;
}

export function packCall({ what, now, ttl, terms, seed }: ScriptCall): string {
  return `${what} ${now ?? '-'} ${ttl} ${packTerms(terms)} ${seed === undefined ? '' : packState(seed)}`;
}

function packTerms({ limits, bansLiftedAt, banRules }: Terms): string {
  const values = `${limits.perMinute}/${limits.perDay}/${bansLiftedAt}`;
  if (!banRules) return values;
  const { forgiveness, strikes, strikesWithin, decay, durations } = banRules;
  return `${values}/${forgiveness}/${strikes}/${strikesWithin}/${decay}/${durations.join(',')}`;
}

/** The result of `decide.lua` for one subject. */
export interface ScriptResult extends Outcome {
  /** The instant of the decision, in milliseconds since the Unix epoch. */
  decidedAt: number;
  state: LimitState;
}

/** Returns `undefined` when the state was lost and no seed was sent. The verdict of a look has no meaning. */
export function unpackResult(text: string, resets = 0): ScriptResult | undefined {
  if (text === '') return undefined;
  const words = text.split(' ');
  const [verdict, banBegins, decidedAt] = words;
  return {
    verdict: verdict as Verdict,
    banBegins: banBegins === '1',
    decidedAt: Number(decidedAt),
    state: stateOf(words, 3, resets),
  };
}
