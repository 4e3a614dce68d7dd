import { ApiError } from '../../contract/errors.ts';
import type { Queries, Transaction, Writer } from '../../db/database.ts';
import { selectPage } from '../../db/select-page.ts';
import { formatDateTime } from '../../kit/dates.ts';
import { mapPage, type Page } from '../../kit/paging.ts';
import { changedSettings, rejectMismatchedQuotas } from '../api-keys/api-key.ts';
import { type ApiKeyRow, selectApiKey, selectApiKeyToChange } from '../api-keys/api-key-queries.ts';
import { changeWithin, type KeyAccess } from '../api-keys/api-keys.ts';
import {
  type NewPlanRequest,
  type PlanRequest,
  planRequestEvents,
  planRequestTable,
} from './plan-request.ts';
import {
  lockPlanRequests,
  type PlanRequestQuery,
  planRequestList,
  type StoredPlanRequest,
  selectNewest,
} from './plan-request-queries.ts';

export async function list(db: Queries, query: PlanRequestQuery): Promise<Page<PlanRequest>> {
  return mapPage(await selectPage(db, planRequestList, query), toPlanRequest);
}

export async function read(db: Queries, requestId: number): Promise<PlanRequest> {
  return toPlanRequest(rejectUnknown(await planRequestTable.find(db, requestId), requestId));
}

/** Reads a request of a key. Those of other keys do not exist for it. */
export async function readOwn(db: Queries, keyId: number, requestId: number): Promise<PlanRequest> {
  const found = await planRequestTable.find(db, requestId);
  return toPlanRequest(rejectUnknown(found?.keyId === keyId ? found : undefined, requestId));
}

/** Returns the newest request of a key; null if it has none. */
export async function newestOf(db: Queries, keyId: number): Promise<PlanRequest | null> {
  const newest = await selectNewest(db, keyId);
  return newest ? toPlanRequest(newest) : null;
}

/** Requests another plan for a key. Throws `plan_request_open` if it has an open request. */
export function create(
  db: Writer,
  keyId: number,
  { plan, quotas, note }: NewPlanRequest,
  now: number,
): Promise<PlanRequest> {
  rejectMismatchedQuotas(plan, quotas);
  return db.write(async tx => {
    // No key is ever deleted.
    const [, key, newest] = await Promise.all([
      lockPlanRequests(tx, keyId),
      selectApiKey(tx, keyId),
      selectNewest(tx, keyId),
    ]);
    if (newest?.status === 'open') {
      throw new ApiError(
        'plan_request_open',
        `API key ${keyId} requested the plan \`${newest.plan}\` at ${newest.createdAt}: wait until an administrator has decided`,
      );
    }
    rejectSamePlan(key!, plan, quotas);
    const request = await planRequestTable.insert(tx, {
      ...{ keyId, name: key!.name, plan, note: note ?? null },
      ...{ perMinute: quotas?.perMinute ?? null, perDay: quotas?.perDay ?? null },
      ...{ status: 'open', message: null, createdAt: formatDateTime(now), decidedAt: null },
    });
    const requested = toPlanRequest(request);
    planRequestEvents.append(tx, 'key.plan_requested', keyId, requested);
    return requested;
  });
}

/** Changes the plan of the key to the requested one, in the transaction that ends the request. */
export function approve(
  access: KeyAccess,
  requestId: number,
  { message = null }: { message?: string | null },
): Promise<PlanRequest> {
  return access.db.write(async tx => {
    const request = await findOpen(tx, requestId);
    const { plan, keyId } = request;
    const row = (await selectApiKeyToChange(tx, keyId))!;
    await changeWithin(tx, access, row, key =>
      changedSettings(key, { plan, ...(plan === 'enterprise' && { quotas: quotasOf(request)! }) }),
    );
    return decide(tx, request, 'approved', message, access.now);
  });
}

export function decline(
  { db, now }: Pick<KeyAccess, 'db' | 'now'>,
  requestId: number,
  { message }: { message: string },
): Promise<PlanRequest> {
  return db.write(async tx => decide(tx, await findOpen(tx, requestId), 'declined', message, now));
}

async function decide(
  tx: Transaction,
  request: StoredPlanRequest,
  status: 'approved' | 'declined',
  message: string | null,
  now: number,
): Promise<PlanRequest> {
  const decided = await planRequestTable.update(tx, request.id, {
    ...request,
    status,
    message,
    decidedAt: formatDateTime(now),
  });
  const [before, after] = [toPlanRequest(request), toPlanRequest(decided)];
  planRequestEvents.append(tx, `key.plan_${status}`, request.keyId, after, {
    before,
    reason: message ?? undefined,
  });
  return after;
}

/** Reads a request to decide it, and locks those of its key. */
async function findOpen(tx: Transaction, requestId: number): Promise<StoredPlanRequest> {
  const { keyId } = rejectUnknown(await planRequestTable.find(tx, requestId), requestId);
  const [, request] = await Promise.all([lockPlanRequests(tx, keyId), planRequestTable.find(tx, requestId)]);
  if (request!.status !== 'open') {
    throw new ApiError(
      'plan_request_decided',
      `Plan request ${requestId} was ${request!.status} at ${request!.decidedAt}: change the plan with PATCH /keys/${keyId} instead`,
    );
  }
  return request!;
}

function rejectUnknown(request: StoredPlanRequest | undefined, requestId: number): StoredPlanRequest {
  if (!request) throw new ApiError('plan_request_not_found', `There is no plan request ${requestId}`);
  return request;
}

function rejectSamePlan(key: ApiKeyRow, plan: string, quotas: NewPlanRequest['quotas']): void {
  const isSame = key.per_minute === (quotas?.perMinute ?? null) && key.per_day === (quotas?.perDay ?? null);
  if (key.plan !== plan || !isSame) return;
  throw new ApiError(
    'invalid_request',
    `API key ${key.id} already has the plan \`${plan}\`${quotas ? ' with these quotas' : ''}: request another one`,
  );
}

function quotasOf({ perMinute, perDay }: StoredPlanRequest): PlanRequest['quotas'] {
  return perMinute === null || perDay === null ? null : { perMinute, perDay };
}

function toPlanRequest(request: StoredPlanRequest): PlanRequest {
  const { id, keyId, name, plan, note, status, message, createdAt, decidedAt } = request;
  return { id, keyId, name, plan, quotas: quotasOf(request), note, status, message, createdAt, decidedAt };
}
