import { type Changes, type DayUse, dayUseOf } from '../../counters/counters.ts';
import type { LimitState } from '../../counters/decide.ts';
import { mergeStates } from '../../counters/merge-states.ts';
import type { Transaction } from '../../db/database.ts';
import { MINUTE } from '../../kit/clock.ts';
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
 * Stores changes in a few statements, however many they are. Several replicas may store the same keys, so what is stored is
 * merged with the changes, by one replica at a time. Replicas of a version without that lock are kept away by the rows
 * themselves, which are locked in the order of their keys.
 */
export async function storeChanges(tx: Transaction, { states, endedDays }: Changes): Promise<void> {
  await tx.lock('key limits');
  await storeStates(tx, states);
  // A day that ended by a reset of the limits comes before the rest of it.
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
 * The use of a day with what was counted in addition. Counts only grow between resets of the limits, so of two the larger
 * holds. With a later reset they begin again, and what was counted before is added to the earlier use of the day.
 */
export function mergeUse(
  kept: Readonly<UsageRow> | undefined,
  { keyId, day, resets, admitted, refused }: DayUse,
): UsageRow {
  const counted = {
    api_key_id: keyId,
    day,
    resets,
    admitted,
    refused,
    earlier_admitted: 0,
    earlier_refused: 0,
  };
  if (!kept) return counted;
  if (resets < kept.resets) return kept;
  if (resets > kept.resets) {
    return {
      ...counted,
      earlier_admitted: kept.earlier_admitted + kept.admitted,
      earlier_refused: kept.earlier_refused + kept.refused,
    };
  }
  return {
    ...kept,
    admitted: Math.max(kept.admitted, admitted),
    refused: Math.max(kept.refused, refused),
  };
}

/** A key in constant use is stored as used once a minute. */
export function minuteOf(instant: number): number {
  return Math.floor(instant / MINUTE) * MINUTE;
}

/** The state of a key as it is stored. Its use of the day is stored apart. */
export function stateOf(row: LimitRow): LimitState {
  return {
    minute: row.minute,
    minuteUsed: row.minute_used,
    day: 0,
    dayUsed: 0,
    dayRejected: 0,
    rejectedAt: row.told_at,
    waitUntil: row.told_until,
    strikes: JSON.parse(row.strikes),
    bannedAt: row.banned_at,
    bannedUntil: row.banned_until,
    bans: row.bans,
    // It is known to the minute.
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
    told_at: state.rejectedAt,
    told_until: state.waitUntil,
    strikes: JSON.stringify(state.strikes),
    banned_at: state.bannedAt,
    banned_until: state.bannedUntil,
    bans: state.bans,
  };
}
