import type { Operation } from './contract.ts';

/** The calls that do not follow from the path and the ID of their operation. */
const exceptions: Readonly<Record<string, string>> = {
  placeOrder: 'orders.create',
  changeStock: 'inventory.set',
  runBatch: 'batches.create',
  liftBan: 'keys.liftBan',
  resetLimits: 'keys.resetLimits',
  revokeLeakedKeys: 'keys.revokeLeaked',
  requestPlan: 'account.requestPlan',
  getOwnPlanRequest: 'account.planRequest',
  listPlanRequests: 'keys.planRequests',
  getPlanRequest: 'keys.getPlanRequest',
  approvePlanRequest: 'keys.approvePlanRequest',
  declinePlanRequest: 'keys.declinePlanRequest',
  getApiKeyUsage: 'keys.usage',
  getBusiestApiKeys: 'keys.busiest',
  listHistory: 'events.history',
  getCheckpoint: 'events.checkpoint',
  listSeals: 'events.seals',
  streamEvents: 'events.subscribe',
  listWebhookDeliveries: 'webhooks.listDeliveries',
  getWebhookDelivery: 'webhooks.getDelivery',
  getHealth: 'service.health',
  getReadiness: 'service.readiness',
  getContractAsYaml: 'service.contractAsYaml',
  getContractAsJson: 'service.contract',
};

/** The method of the TypeScript client: `changeOrder` at `/store/orders/{orderId}` becomes `orders.update`. */
export function clientCall({ id, path }: Pick<Operation, 'id' | 'path'>): string {
  const [, resource] = /^(?:\/store)?\/(\w+)/.exec(path) ?? [];
  const [verb] = /^[a-z]+/.exec(id) ?? [];
  return exceptions[id] ?? `${resource}.${verb === 'change' ? 'update' : verb}`;
}
