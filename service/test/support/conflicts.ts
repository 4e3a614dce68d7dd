import type { ApiResponse } from './client.ts';
import { aCategory, anOrder, aPet } from './factories.ts';
import type { TestApp } from './test-app.ts';

const url = 'https://shop.example/hook';
/** The largest stock. */
const MAX = 2_147_483_647;

interface Conflicting {
  api: TestApp['api'];
  shop: TestApp;
}

/** An order for a pet with three units. */
export const openOrder = async (api: TestApp['api'], fields: object = {}) => {
  const petId = await aPet(api, { stock: 3 });
  return { petId, orderId: await anOrder(api, { petId, ...fields }) };
};

const completed = async (api: TestApp['api']) => {
  const { orderId } = await openOrder(api);
  await api.patch(`/store/orders/${orderId}`, { complete: true });
  return orderId;
};

/** An order that holds a unit of a pet whose stock is as large as it can be. */
const full = async (api: TestApp['api']) => {
  const { petId, orderId } = await openOrder(api);
  await api.put(`/store/inventory/${petId}`, { quantity: MAX });
  return { petId, orderId };
};

const unfitWebhook = async (shop: TestApp) => {
  const owner = await shop.clientWith({ scopes: ['webhooks:write', 'events:read', 'pets:read'] });
  const { body } = await owner.post('/webhooks', { url });
  await shop.api.patch(`/keys/${owner.keyId}`, { scopes: ['webhooks:write'] });
  return body.id as number;
};

const revoked = async (shop: TestApp) => {
  const { keyId } = await shop.clientWith({ scopes: ['pets:read'] });
  await shop.api.delete(`/keys/${keyId}`);
  return keyId;
};

/** Decides a request for another plan again after it was declined. */
const decidedTwice = async ({ api, clientWith }: TestApp, decision: 'approve' | 'decline', body: object) => {
  const client = await clientWith({ plan: 'free', scopes: ['pets:read'] });
  const { id } = (await client.post('/account/plan-requests', { plan: 'pro' })).body;
  await api.post(`/plan-requests/${id}/decline`, { message: 'Not now' });
  return api.post(`/plan-requests/${id}/${decision}`, body);
};

const pet = async (api: TestApp['api'], fields: object) => ({
  name: 'Rex',
  categoryId: await aCategory(api),
  ...fields,
});

/** How a form provokes each conflict of each operation. */
export const conflicts: Record<string, (parts: Conflicting) => Promise<ApiResponse>> = {
  'replacePet pet_has_open_orders': async ({ api }) =>
    api.put(`/pets/${(await openOrder(api)).petId}`, await pet(api, { status: 'sold' })),
  'replacePet out_of_stock': async ({ api }) =>
    api.put(`/pets/${await aPet(api, { status: 'sold' })}`, await pet(api, { status: 'available' })),
  'replacePet invalid_status_transition': async ({ api }) =>
    api.put(`/pets/${await aPet(api, { status: 'sold' })}`, await pet(api, { status: 'pending' })),
  'changePet pet_has_open_orders': async ({ api }) =>
    api.patch(`/pets/${(await openOrder(api)).petId}`, { status: 'sold' }),
  'changePet out_of_stock': async ({ api }) =>
    api.patch(`/pets/${await aPet(api, { status: 'sold' })}`, { status: 'available' }),
  'changePet invalid_status_transition': async ({ api }) =>
    api.patch(`/pets/${await aPet(api, { status: 'sold' })}`, { status: 'pending' }),
  'deletePet pet_has_open_orders': async ({ api }) => api.delete(`/pets/${(await openOrder(api)).petId}`),
  'createCategory category_name_taken': async ({ api }) => {
    await aCategory(api, { name: 'Taken 1' });
    return api.post('/categories', { name: 'taken 1' });
  },
  'replaceCategory category_name_taken': async ({ api }) => {
    await aCategory(api, { name: 'Taken 2' });
    return api.put(`/categories/${await aCategory(api)}`, { name: 'taken 2' });
  },
  'changeCategory category_name_taken': async ({ api }) => {
    await aCategory(api, { name: 'Taken 3' });
    return api.patch(`/categories/${await aCategory(api)}`, { name: 'taken 3' });
  },
  'deleteCategory category_in_use': async ({ api }) => {
    const categoryId = await aCategory(api);
    await aPet(api, { categoryId });
    return api.delete(`/categories/${categoryId}`);
  },
  'placeOrder pet_not_available': async ({ api }) =>
    api.post('/store/orders', { petId: await aPet(api, { status: 'pending' }) }),
  'placeOrder insufficient_stock': async ({ api }) =>
    api.post('/store/orders', { petId: await aPet(api), quantity: 5 }),
  'placeOrder order_has_no_pet': ({ api }) => api.post('/store/orders', { complete: true }),
  'replaceOrder pet_not_available': async ({ api }) =>
    api.put(`/store/orders/${await anOrder(api, {})}`, { petId: await aPet(api, { status: 'pending' }) }),
  'replaceOrder insufficient_stock': async ({ api }) =>
    api.put(`/store/orders/${await anOrder(api, {})}`, { petId: await aPet(api), quantity: 5 }),
  'replaceOrder stock_limit_exceeded': async ({ api }) =>
    api.put(`/store/orders/${(await full(api)).orderId}`, { petId: await aPet(api) }),
  'replaceOrder order_has_no_pet': async ({ api }) =>
    api.put(`/store/orders/${await anOrder(api, {})}`, { complete: true }),
  'replaceOrder order_already_complete': async ({ api }) =>
    api.put(`/store/orders/${await completed(api)}`, { quantity: 2 }),
  'changeOrder pet_not_available': async ({ api }) =>
    api.patch(`/store/orders/${await anOrder(api, {})}`, { petId: await aPet(api, { status: 'pending' }) }),
  'changeOrder insufficient_stock': async ({ api }) =>
    api.patch(`/store/orders/${await anOrder(api, {})}`, { petId: await aPet(api), quantity: 5 }),
  'changeOrder stock_limit_exceeded': async ({ api }) =>
    api.patch(`/store/orders/${(await full(api)).orderId}`, { petId: await aPet(api) }),
  'changeOrder order_has_no_pet': async ({ api }) =>
    api.patch(`/store/orders/${await anOrder(api, {})}`, { complete: true }),
  'changeOrder order_already_complete': async ({ api }) =>
    api.patch(`/store/orders/${await completed(api)}`, { quantity: 2 }),
  'cancelOrder order_already_complete': async ({ api }) =>
    api.delete(`/store/orders/${await completed(api)}`),
  'cancelOrder stock_limit_exceeded': async ({ api }) =>
    api.delete(`/store/orders/${(await full(api)).orderId}`),
  'adjustStock insufficient_stock': async ({ api }) =>
    api.post(`/store/inventory/${await aPet(api)}/adjustments`, { delta: -5 }),
  'adjustStock stock_limit_exceeded': async ({ api }) =>
    api.post(`/store/inventory/${await aPet(api)}/adjustments`, { delta: MAX }),
  'changeApiKey api_key_revoked': async ({ api, shop }) =>
    api.patch(`/keys/${await revoked(shop)}`, { name: 'x' }),
  'changeApiKey last_admin_key': ({ api }) => api.patch('/keys/1', { scopes: ['pets:read'] }),
  'revokeApiKey last_admin_key': ({ api }) => api.delete('/keys/1'),
  'rotateApiKey api_key_revoked': async ({ api, shop }) =>
    api.post(`/keys/${await revoked(shop)}/rotate`, {}),
  'requestPlan plan_request_open': async ({ shop }) => {
    const client = await shop.clientWith({ plan: 'free', scopes: ['pets:read'] });
    await client.post('/account/plan-requests', { plan: 'business' });
    return client.post('/account/plan-requests', { plan: 'pro' });
  },
  'approvePlanRequest api_key_revoked': async ({ api, shop }) => {
    const client = await shop.clientWith({ plan: 'free', scopes: ['pets:read'] });
    const { id } = (await client.post('/account/plan-requests', { plan: 'pro' })).body;
    await api.delete(`/keys/${client.keyId}`);
    return api.post(`/plan-requests/${id}/approve`, {});
  },
  'approvePlanRequest plan_request_decided': ({ shop }) => decidedTwice(shop, 'approve', {}),
  'approvePlanRequest last_admin_key': async ({ api }) => {
    // With these quotas the administrator could not raise its own limits.
    const quotas = { perMinute: 1, perDay: 1 };
    const { id } = (await api.post('/account/plan-requests', { plan: 'enterprise', quotas })).body;
    const response = await api.post(`/plan-requests/${id}/approve`, {});
    await api.post(`/plan-requests/${id}/decline`, { message: 'It would lock us out' });
    return response;
  },
  'declinePlanRequest plan_request_decided': ({ shop }) => decidedTwice(shop, 'decline', { message: 'No' }),
  'createWebhook too_many_webhooks': async ({ shop }) => {
    const owner = await shop.clientWith({ scopes: ['admin'] });
    for (let i = 0; i < 2; i++) await owner.post('/webhooks', { url });
    return owner.post('/webhooks', { url });
  },
  'replaceWebhook webhook_key_unfit': async ({ api, shop }) =>
    api.put(`/webhooks/${await unfitWebhook(shop)}`, { url, enabled: true }),
  'changeWebhook webhook_key_unfit': async ({ api, shop }) =>
    api.patch(`/webhooks/${await unfitWebhook(shop)}`, { enabled: true }),
  'testWebhook webhook_disabled': async ({ shop }) => {
    const owner = await shop.clientWith({ scopes: ['admin'] });
    const { body } = await owner.post('/webhooks', { url, enabled: false });
    return owner.post(`/webhooks/${body.id}/test`);
  },
};

/** Conflicts that no form provokes: they need two requests at once, or a delivery that has failed. */
export const unprovoked = new Set([
  'replayWebhook replay_in_progress',
  'redeliverWebhookDelivery webhook_disabled',
  'redeliverWebhookDelivery webhook_key_unfit',
]);
