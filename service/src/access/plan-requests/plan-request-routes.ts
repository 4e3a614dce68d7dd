import { CREATED_ID } from '../../contract/operation.ts';
import { pageOf } from '../../contract/page.ts';
import { inWords } from '../../kit/quantities.ts';
import { defineRoute, type Route } from '../../routes/define-route.ts';
import { idParams } from '../../routes/id-params.ts';
import { listQuery } from '../../routes/list-query.ts';
import { reply } from '../../routes/reply.ts';
import { FRESH_FOR } from '../api-keys/key-ring.ts';
import type { KeyLimits } from '../rate-limits/key-limits.ts';
import { NewPlanRequest, PlanApproval, PlanRejection, PlanRequest } from './plan-request.ts';
import { planRequestList } from './plan-request-queries.ts';
import * as planRequests from './plan-requests.ts';

const params = idParams('requestId', 'The plan request.');

const ofAccount = { tag: 'Account', scope: 'any', countedBy: 'account', stability: 'experimental' } as const;
const administration = { tag: 'API keys', scope: 'admin', stability: 'experimental' } as const;
const decidedAt = '2026-11-21T12:00:00.000Z';
const ofRequest = { ...administration, params } as const;

export const planRequestRoutes = ({ keyLimits }: { keyLimits: KeyLimits }): Route[] => [
  defineRoute({
    ...ofAccount,
    method: 'POST',
    path: '/account/plan-requests',
    operationId: 'requestPlan',
    summary: 'Request another plan',
    description:
      'Asks the administrators for another plan of the calling API key, or for other quotas of an Enterprise key. A key has one open ' +
      'request. The request does not count against the quotas of the key, and works while they are used up and during a ban, like ' +
      '`GET /account`, which returns the newest request. A publishable key cannot request a plan.',
    body: NewPlanRequest,
    success: {
      status: 201,
      description: 'The request.',
      schema: PlanRequest,
      read: { operationId: 'getOwnPlanRequest', parameters: { requestId: CREATED_ID } },
    },
    conditional: true,
    errors: ['plan_request_open'],
    handler: async ({ body, caller, db, now }) => {
      const request = await planRequests.create(db, caller.keyId, body, now);
      return reply.created(`/account/plan-requests/${request.id}`, request);
    },
  }),

  defineRoute({
    ...ofAccount,
    method: 'GET',
    path: '/account/plan-requests/{requestId}',
    operationId: 'getOwnPlanRequest',
    summary: 'Read your own plan request',
    description:
      'A request of the calling API key, with the decision of an administrator. The request counts as `GET /account` does: not ' +
      'against the quotas of the key.',
    params,
    success: { status: 200, description: 'The request.', schema: PlanRequest },
    conditional: true,
    errors: ['plan_request_not_found'],
    handler: async ({ params, caller, db }) =>
      reply.resource(await planRequests.readOwn(db, caller.keyId, params.requestId)),
  }),

  defineRoute({
    ...administration,
    method: 'GET',
    path: '/plan-requests',
    operationId: 'listPlanRequests',
    summary: 'List plan requests',
    description: 'The requests of all API keys, the newest first.',
    query: listQuery(planRequestList),
    success: pageOf(PlanRequest, 'A page of requests.'),
    errors: [],
    handler: async ({ query, db }) => reply.page(await planRequests.list(db, query)),
  }),

  defineRoute({
    ...ofRequest,
    method: 'GET',
    path: '/plan-requests/{requestId}',
    operationId: 'getPlanRequest',
    summary: 'Read a plan request',
    description: 'One request by its ID.',
    success: { status: 200, description: 'The request.', schema: PlanRequest },
    conditional: true,
    errors: ['plan_request_not_found'],
    handler: async ({ params, db }) => reply.resource(await planRequests.read(db, params.requestId)),
  }),

  defineRoute({
    ...ofRequest,
    method: 'POST',
    path: '/plan-requests/{requestId}/approve',
    operationId: 'approvePlanRequest',
    summary: 'Approve a plan request',
    description:
      'Changes the plan of the API key to the requested one, with the requested quotas for Enterprise. The change takes effect with ' +
      `the next request of the key: at once in this process, within ${inWords(FRESH_FOR)} in others.`,
    body: PlanApproval,
    bodyOptional: true,
    success: {
      status: 200,
      description: 'The approved request.',
      schema: PlanRequest,
      example: { ...PlanRequest.example, status: 'approved', ...PlanApproval.example, decidedAt },
    },
    errors: ['plan_request_not_found', 'plan_request_decided', 'api_key_revoked', 'last_admin_key'],
    handler: async ({ params, body, db, now }) =>
      reply.resource(await planRequests.approve({ db, keyLimits, now }, params.requestId, body)),
  }),

  defineRoute({
    ...ofRequest,
    method: 'POST',
    path: '/plan-requests/{requestId}/decline',
    operationId: 'declinePlanRequest',
    summary: 'Decline a plan request',
    description: 'The plan stays, and the holder of the key can read the message.',
    body: PlanRejection,
    success: {
      status: 200,
      description: 'The declined request.',
      schema: PlanRequest,
      example: { ...PlanRequest.example, status: 'declined', ...PlanRejection.example, decidedAt },
    },
    errors: ['plan_request_not_found', 'plan_request_decided'],
    handler: async ({ params, body, db, now }) =>
      reply.resource(await planRequests.decline({ db, now }, params.requestId, body)),
  }),
];
