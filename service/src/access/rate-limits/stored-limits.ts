import type { LimitState } from '../../counters/decide.ts';
import { type Changes, type DayUse, dayUseOf } from '../../counters/key-states.ts';
import { mergeStates } from '../../counters/merge-states.ts';
import type { Transaction } from '../../db/database.ts';
import { MINUTE } from '../../kit/clock.ts';
import { warnOfQuotas } from '../key-warnings/quota-warnings.ts';
import {
  type LimitRow,
  selectLimitsOf,
  selectUsageOf,
  type UsageRow,
  updateLastUsed,
  upsertLimits,
  upsertUsage,
} from './limit-queries.ts';

/**
 * Stores any number of changes in a few statements. Several replicas may store the same keys, so the stored rows are merged
 * with the changes, by one replica at a time. Until the commit no sweep deletes these rows: they are locked in the order of the keys.
 */
export async function storeChanges(tx: Transaction, changes: Changes): Promise<void> {
  await storeCounts(tx, changes);
  await warnOfQuotas(tx, changes.states, changes.endedDays);
}

/** The same without the warnings that follow from the counts. */
export async function storeCounts(tx: Transaction, { states, endedDays }: Changes): Promise<void> {
  await tx.lock('key limits');
  await storeStates(tx, states);
  // When a reset split a day, the part before the reset comes first.
  await storeUse(tx, [...endedDays, ...states.map(({ keyId, state }) => dayUseOf(keyId, state))]);
  await updateLastUsed(
    tx,
    states.map(({ keyId, state }) => ({ api_key_id: keyId, last_used_at: minuteOf(state.seenAt) })),
  );
}

async function storeStates(tx: Transaction, states: Changes['states']): Promise<void> {
  const rows = await selectLimitsOf(
    tx,
    states.map(({ keyId }) => keyId),
  );
  const stored = new Map(rows.map(row => [row.api_key_id, row]));
  await upsertLimits(
    tx,
    states.map(({ keyId, state }) => {
      const row = stored.get(keyId);
      return rowOf(keyId, row ? mergeStates(stateOf(row), state, state.seenAt) : state);
    }),
  );
}

async function storeUse(tx: Transaction, uses: readonly DayUse[]): Promise<void> {
  const days = new Map<string, UsageRow>();
  for (const row of await selectUsageOf(tx, uses)) days.set(`${row.api_key_id}:${row.day}`, row);
  for (const use of uses) {
    const name = `${use.keyId}:${use.day}`;
    days.set(name, mergeUse(days.get(name), use));
  }
  await upsertUsage(tx, [...days.values()]);
}

/**
 * Merges the stored use of a day with a counted one. Between resets of the limits counts only grow, so the larger one
 * applies. After a later reset they start again, and the stored counts become part of the day's earlier use.
 */
export function mergeUse(
  stored: Readonly<UsageRow> | undefined,
  { keyId, day, resets, admitted, rejected }: DayUse,
): UsageRow {
  const counted = {
    api_key_id: keyId,
    day,
    resets,
    admitted,
    rejected,
    earlier_admitted: 0,
    earlier_rejected: 0,
  };
  if (!stored) return counted;
  if (resets < stored.resets) return stored;
  if (resets > stored.resets) {
    return {
      ...counted,
      earlier_admitted: stored.earlier_admitted + stored.admitted,
      earlier_rejected: stored.earlier_rejected + stored.rejected,
    };
  }
  return {
    ...stored,
    admitted: Math.max(stored.admitted, admitted),
    rejected: Math.max(stored.rejected, rejected),
  };
}

/** Rounds down to the minute, so that a key in constant use is updated once a minute. */
export function minuteOf(instant: number): number {
  return Math.floor(instant / MINUTE) * MINUTE;
}

/** Returns the state of a stored row. The use of the day is stored separately. */
export function stateOf(row: LimitRow): LimitState {
  return {
    minute: row.minute,
    minuteUsed: row.minute_used,
    fullMinutes: row.full_minutes,
    busyMinute: row.busy_minute,
    busyLimit: row.busy_limit,
    day: 0,
    dayUsed: 0,
    dayRejected: 0,
    rejectedAt: row.rejected_at,
    waitUntil: row.wait_until,
    strikes: JSON.parse(row.strikes),
    bannedAt: row.banned_at,
    bannedUntil: row.banned_until,
    bans: row.bans,
    // Only the minute is stored.
    seenAt: row.minute * MINUTE,
    resets: row.resets,
  };
}

function rowOf(keyId: number, state: Readonly<LimitState>): LimitRow {
  return {
    api_key_id: keyId,
    resets: state.resets,
    minute: state.minute,
    minute_used: state.minuteUsed,
    full_minutes: state.fullMinutes,
    busy_minute: state.busyMinute,
    busy_limit: state.busyLimit,
    rejected_at: state.rejectedAt,
    wait_until: state.waitUntil,
    strikes: JSON.stringify(state.strikes),
    banned_at: state.bannedAt,
    banned_until: state.bannedUntil,
    bans: state.bans,
  };
}
