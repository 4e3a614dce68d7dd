import {
  ADMITTED,
  count,
  type Decision,
  describe,
  enter,
  type LimitState,
  type Outcome,
  peek,
  REJECTED,
  type Terms,
} from './decide.ts';
import { hasRoom } from './windows.ts';

/** The terms of a visit. Rules of bans do not apply: a publishable key is public, so any client could get it banned. */
export interface VisitTerms {
  key: Terms;
  visitor: Terms;
}

/** What a visit counts against, in the order of its states. Only visitors with an IPv6 address have a network. */
const subjects = ['key', 'visitor', 'network'] as const;

/** The states of the key, the visitor, and the network if there is one. */
export type VisitStates = readonly [key: LimitState, visitor: LimitState, network?: LimitState | undefined];

/** A decision that also states whose window binds, and whether the visitor has a network. */
export type VisitDecision = Decision & Required<Pick<Decision, 'boundBy' | 'hasNetwork'>>;

/** How many times the quotas of a visitor a network has. */
const VISITORS_OF_NETWORK = 10;

const networkTerms = new WeakMap<Terms, Terms>();

/** Returns the terms of the network of visitors with these terms. */
export function networkTermsOf(visitor: Terms): Terms {
  let terms = networkTerms.get(visitor);
  if (terms === undefined) {
    const { perMinute, perDay } = visitor.limits;
    const limits = { perMinute: perMinute * VISITORS_OF_NETWORK, perDay: perDay * VISITORS_OF_NETWORK };
    terms = { ...visitor, limits };
    networkTerms.set(visitor, terms);
  }
  return terms;
}

/**
 * The rule of limits for a visit: a request of a visitor with a publishable key. It is admitted when the key, the visitor and its
 * network all have room, and then counts for all of them; a rejected request counts for none.
 */
export function decideVisit(states: VisitStates, terms: VisitTerms, now: number): VisitDecision {
  return describeVisit(states, terms, now, advanceAll(states, terms, now));
}

/** The part of the rule that changes the states. `decide.lua` repeats it for states in Redis: change both together. */
function advanceAll(states: VisitStates, terms: VisitTerms, now: number): Outcome {
  const counted = countedFor(states, terms);
  for (const [state, ofSubject] of counted) enter(state, ofSubject, now);
  if (counted.every(([state, { limits }]) => hasRoom(state, limits))) {
    for (const [state, { limits }] of counted) count(state, limits);
    return ADMITTED;
  }
  for (const [state] of counted) state.dayRejected++;
  return REJECTED;
}

/** Returns the decision of a visit after which its subjects are in these states. */
export function describeVisit(
  states: VisitStates,
  terms: VisitTerms,
  now: number,
  outcome: Outcome,
): VisitDecision {
  return binding(
    countedFor(states, terms).map(([state, ofSubject]) => describe(state, ofSubject, now, outcome)),
  );
}

/** Returns the numbers for the headers of a visit at `now`, without deciding a request. */
export function peekVisit(states: VisitStates, terms: VisitTerms, now: number): VisitDecision {
  return binding(countedFor(states, terms).map(([state, ofSubject]) => peek(state, ofSubject, now)));
}

/** The states with their terms. */
function countedFor([key, visitor, network]: VisitStates, terms: VisitTerms): [LimitState, Terms][] {
  const counted: [LimitState, Terms][] = [
    [key, terms.key],
    [visitor, terms.visitor],
  ];
  if (network) counted.push([network, networkTermsOf(terms.visitor)]);
  return counted;
}

/**
 * The decision about the window with the fewest requests remaining of all. When several have the same number, it is the one that
 * ends last, so that a rejected visitor that waits for it is admitted; when they also end together, that of the first subject.
 */
function binding(decisions: readonly Decision[]): VisitDecision {
  let place = 0;
  for (const [i, { remaining, reset }] of decisions.entries()) {
    const bound = decisions[place]!;
    if (remaining < bound.remaining || (remaining === bound.remaining && reset > bound.reset)) place = i;
  }
  return {
    ...decisions[place]!,
    boundBy: subjects[place]!,
    hasNetwork: decisions.length === subjects.length,
  };
}
