import { type LimitState, newState, type Outcome, type Terms, type Verdict } from './decide.ts';

/** The numbers of a state in the order in which they are packed. `decide-script.ts` hands the order on to `decide.lua`. */
export const packedNumbers = [
  'minute',
  'minuteUsed',
  'day',
  'dayUsed',
  'dayRejected',
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
  return stateOf(text.split(' '), 0, resets);
}

/** The state whose packed numbers begin at `start` among these words. */
function stateOf(words: readonly string[], start: number, resets: number): LimitState {
  const state = newState(0, resets);
  for (const [i, name] of packedNumbers.entries()) state[name] = Number(words[start + i]);
  const strikes = words[start + packedNumbers.length]!;
  if (strikes !== '-') state.strikes = strikes.split(',').map(Number);
  return state;
}

/** What `decide.lua` is asked of a subject. */
export interface Question {
  /** To count a request, or only to bring in the seed. */
  what: 'count' | 'look';
  /** Milliseconds since the Unix epoch; `undefined` for the clock of Redis. */
  now: number | undefined;
  /** For how long the state is kept at least, in milliseconds. */
  kept: number;
  terms: Terms;
  /** What the caller knows of the subject; `undefined` when it has sent it before. */
  seed: Readonly<LimitState> | undefined;
}

export function packQuestion({ what, now, kept, terms, seed }: Question): string {
  return `${what} ${now ?? '-'} ${kept} ${packTerms(terms)} ${seed === undefined ? '' : packState(seed)}`;
}

function packTerms({ limits, bansLiftedAt, banRules }: Terms): string {
  const values = `${limits.perMinute}/${limits.perDay}/${bansLiftedAt}`;
  if (!banRules) return values;
  const { forgiveness, strikes, strikesWithin, decay, durations } = banRules;
  return `${values}/${forgiveness}/${strikes}/${strikesWithin}/${decay}/${durations.join(',')}`;
}

/** What `decide.lua` answers. */
export interface Answer extends Outcome {
  /** The instant that it decided at, in milliseconds since the Unix epoch. */
  decidedAt: number;
  state: LimitState;
}

/** `undefined` when the state was lost and no seed was sent. The verdict of a look is that of no request. */
export function unpackAnswer(text: string, resets = 0): Answer | undefined {
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
