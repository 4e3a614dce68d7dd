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

/** A decision that also states whose window binds. */
export type VisitDecision = Decision & Required<Pick<Decision, 'boundBy'>>;

/**
 * The rule of limits for a visit: a request of a visitor with a publishable key. It is admitted when the key and the visitor
 * both have room, and then counts for both; a rejected request counts for neither.
 */
export function decideVisit(
  key: LimitState,
  visitor: LimitState,
  terms: VisitTerms,
  now: number,
): VisitDecision {
  return describeVisit(key, visitor, terms, now, advanceBoth(key, visitor, terms, now));
}

/** The part of the rule that changes the states. `decide.lua` repeats it for states in Redis: change both together. */
function advanceBoth(key: LimitState, visitor: LimitState, terms: VisitTerms, now: number): Outcome {
  enter(key, terms.key, now);
  enter(visitor, terms.visitor, now);
  if (hasRoom(key, terms.key.limits) && hasRoom(visitor, terms.visitor.limits)) {
    count(key);
    count(visitor);
    return ADMITTED;
  }
  key.dayRejected++;
  visitor.dayRejected++;
  return REJECTED;
}

/** Returns the decision of a visit after which its key and its visitor are in these states. */
export function describeVisit(
  key: LimitState,
  visitor: LimitState,
  terms: VisitTerms,
  now: number,
  outcome: Outcome,
): VisitDecision {
  return binding(describe(key, terms.key, now, outcome), describe(visitor, terms.visitor, now, outcome));
}

/** Returns the numbers for the headers of a visit at `now`, without deciding a request. */
export function peekVisit(
  key: Readonly<LimitState>,
  visitor: Readonly<LimitState>,
  terms: VisitTerms,
  now: number,
): VisitDecision {
  return binding(peek(key, terms.key, now), peek(visitor, terms.visitor, now));
}

/**
 * The decision about the window with the fewest requests remaining of all four. When several have the same number, it is the
 * one that ends last, so that a rejected visitor that waits for it is admitted; when they also end together, that of the key.
 */
function binding(ofKey: Decision, ofVisitor: Decision): VisitDecision {
  const isVisitor =
    ofVisitor.remaining < ofKey.remaining ||
    (ofVisitor.remaining === ofKey.remaining && ofVisitor.reset > ofKey.reset);
  return isVisitor ? { ...ofVisitor, boundBy: 'visitor' } : { ...ofKey, boundBy: 'key' };
}
