import type { LimitState } from '../../counters/decide.ts';
import { type DayUse, dayUseOf } from '../../counters/key-states.ts';
import type { Queries, Statements, Transaction } from '../../db/database.ts';
import { DAY } from '../../kit/clock.ts';
import { formatDateTime } from '../../kit/dates.ts';
import { limitsOf } from '../api-keys/api-key.ts';
import { quotasOf } from '../api-keys/api-key-queries.ts';
import { type PassedQuota, passedOfDay, passedOfMinutes } from './quota-rule.ts';
import { keyQuotaEvents, type QuotaWarning } from './quota-warning.ts';
import {
  deleteWarningsAfter,
  deleteWarningsBefore,
  insertQuotaWarnings,
  type LimitsRow,
  type QuotaWarningRow,
  selectLimitsRows,
  selectQuotaWarnings,
} from './warning-queries.ts';

/** For how many days a warning is kept, so that it is not given again: the counts of an ended day may be stored late. */
const KEPT_DAYS = 7;

/** Warnings deleted in one transaction. */
const SWEPT_AT_ONCE = 500;

interface Passed {
  key: LimitsRow;
  quota: PassedQuota;
  row: QuotaWarningRow;
}

/**
 * Appends the events of the parts of limits that keys have used, in the transaction that stores their counts: so each of them is
 * appended once, whichever replica stores the count, and also if a process ended before it could.
 */
export async function warnOfQuotas(
  tx: Transaction,
  states: readonly { keyId: number; state: Readonly<LimitState> }[],
  endedDays: readonly DayUse[],
): Promise<void> {
  const uses = [
    ...endedDays.map(use => ({ use, state: undefined })),
    ...states.map(({ keyId, state }) => ({ use: dayUseOf(keyId, state), state })),
  ];
  const keys = new Map<number, LimitsRow>();
  for (const row of await selectLimitsRows(tx, [...new Set(uses.map(({ use }) => use.keyId))]))
    keys.set(row.id, row);
  const passed = new Map<string, Passed>();
  for (const { use, state } of uses) {
    const key = keys.get(use.keyId);
    if (!key) continue;
    for (const quota of passedBy(use, state, key)) {
      const { day, window, percent, limit } = quota;
      const row = {
        ...{ api_key_id: key.id, day, of_window: window, percent },
        ...{ quota: limit, resets: use.resets, passed_at: use.seenAt },
      };
      passed.set(nameOf(row), { key, quota, row });
    }
  }
  if (passed.size === 0) return;
  const inserted = await insertQuotaWarnings(
    tx,
    Array.from(passed.values(), ({ row }) => row),
  );
  const isNew = new Set(inserted.map(nameOf));
  for (const [name, { key, quota }] of passed) if (isNew.has(name)) append(tx, key, quota);
}

/** Of minutes that were used up on an earlier day, at most those of the day before may not be stored yet. */
function passedBy(
  { day, admitted }: DayUse,
  state: Readonly<LimitState> | undefined,
  key: LimitsRow,
): PassedQuota[] {
  const { perDay } = limitsOf(key.plan, quotasOf(key));
  const ofDay = passedOfDay(day, admitted, perDay);
  const ofMinutes = state && passedOfMinutes(state);
  return ofMinutes && ofMinutes.day >= day - 1 ? [...ofDay, ofMinutes] : ofDay;
}

/** The identity of a warning: another limit and a reset of the counts begin anew. */
function nameOf({ api_key_id, day, of_window, percent, quota, resets }: QuotaWarningRow): string {
  return `${api_key_id} ${day} ${of_window} ${percent} ${quota} ${resets}`;
}

function append(tx: Transaction, { id, name }: LimitsRow, quota: PassedQuota): void {
  const { window, percent, limit, used, end } = quota;
  const data = { keyId: id, name, window, percent, limit, used, resetAt: formatDateTime(end) };
  keyQuotaEvents.append(tx, 'key.quota_reached', id, data);
}

/** Returns the warnings of a key on the day of `now`, in milliseconds since the Unix epoch. */
export async function quotaWarningsOf(db: Queries, keyId: number, now: number): Promise<QuotaWarning[]> {
  const rows = await selectQuotaWarnings(db, keyId, Math.floor(now / DAY));
  return rows.map(({ of_window: window, percent, quota: limit, passed_at }) => ({
    window,
    percent,
    limit,
    passedAt: formatDateTime(passed_at),
  }));
}

/** Deletes a slice of the warnings that no count can give again, and those from a clock that ran ahead. */
export async function sweepQuotaWarnings(db: Statements, now: number): Promise<boolean> {
  const today = Math.floor(now / DAY);
  const old = await deleteWarningsBefore(db, today - KEPT_DAYS, SWEPT_AT_ONCE);
  const future = await deleteWarningsAfter(db, today + 1, SWEPT_AT_ONCE);
  return old === SWEPT_AT_ONCE || future === SWEPT_AT_ONCE;
}
