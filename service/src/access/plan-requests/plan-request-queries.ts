import { idToFind } from '../../contract/schema.ts';
import type { Queries, Transaction } from '../../db/database.ts';
import { defineList } from '../../db/define-list.ts';
import { is, type QueryOf } from '../../db/list.ts';
import type { ResourceOf } from '../../db/table.ts';
import { planRequestStatuses, planRequestTable } from './plan-request.ts';

export type StoredPlanRequest = ResourceOf<typeof planRequestTable>;

/** Locks the requests of a key until the transaction ends: a key has one open request. */
export function lockPlanRequests(tx: Transaction, keyId: number): Promise<void> {
  return tx.lock(`plan requests ${keyId}`);
}

/** Reads the newest request of a key. */
export async function selectNewest(db: Queries, keyId: number): Promise<StoredPlanRequest | undefined> {
  // The expression is that of the index on PostgreSQL, which could otherwise read all requests by their IDs.
  const row = await db.get<Record<string, number | string | null>>(
    `SELECT ${planRequestTable.columns} FROM plan_requests WHERE api_key_id = ? ORDER BY id - 2 DESC LIMIT 1`,
    [keyId],
  );
  return row && planRequestTable.toResource(row);
}

export const planRequestList = defineList(planRequestTable, {
  filters: {
    status: is('status', {
      type: 'string',
      enum: planRequestStatuses,
      description: 'Requests with this status.',
    }),
    keyId: is('keyId', { ...idToFind, description: 'Requests of this API key.' }),
  },
  sorts: { id: ['id'] },
  defaultSort: '-id',
});

export type PlanRequestQuery = QueryOf<typeof planRequestList>;
