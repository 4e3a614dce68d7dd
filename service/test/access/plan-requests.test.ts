import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { planRequestTable } from '../../src/access/plan-requests/plan-request.ts';
import { SECOND } from '../../src/kit/clock.ts';
import { eventsOf } from '../support/event-log.ts';
import { assertInvalid, assertRejected } from '../support/rejection.ts';
import { startReplicas, tally } from '../support/replicas.ts';
import { useShop } from '../support/use-shop.ts';
import { valuesOf } from '../support/values.ts';
import { eachNoon } from './each-noon.ts';
import { provokeBan, usedUp } from './provoke-ban.ts';

const PATH = '/account/plan-requests';

const shop = useShop();
const { at } = eachNoon(shop);

const aClient = (scopes = ['pets:read']) => shop.clientWith({ plan: 'free', scopes });

describe('a plan request', () => {
  it('is created, read by its key and listed for administrators, and appends an event', async () => {
    const client = await aClient();
    const events = await eventsOf(shop, async () => {
      const { status, body, headers } = await client.post(PATH, { plan: 'business', note: 'More shops' });
      assert.deepEqual([status, headers.location], [201, `${PATH}/${body.id}`]);
    });
    const { body } = await client.get('/account');
    const request = {
      ...{
        id: body.planRequest.id,
        keyId: client.keyId,
        name: 'Test client',
        plan: 'business',
        quotas: null,
      },
      ...{
        note: 'More shops',
        status: 'open',
        message: null,
        createdAt: at('12:00:00.000'),
        decidedAt: null,
      },
    };
    assert.deepEqual(body.planRequest, request);
    assert.deepEqual((await client.get(`${PATH}/${request.id}`)).body, request);
    assert.deepEqual((await shop.api.get(`/plan-requests/${request.id}`)).body, request);
    for (const [reader, path] of [
      [client, `${PATH}/${request.id}`],
      [shop.api, `/plan-requests/${request.id}`],
    ] as const) {
      const { etag } = (await reader.get(path)).headers;
      assert.equal((await reader.get(path, { 'if-none-match': etag! })).status, 304);
    }
    assert.deepEqual((await shop.api.get(`/plan-requests?keyId=${client.keyId}`)).body, [request]);
    assert.deepEqual((await shop.api.get('/plan-requests?status=open&limit=1')).body, [request]);
    assert.deepEqual(
      events.map(({ type, subject, actor, data }) => ({ type, subject, actor, data })),
      [
        {
          type: 'key.plan_requested',
          subject: `keys/${client.keyId}`,
          actor: `keys/${client.keyId}`,
          data: request,
        },
      ],
    );
  });

  it('does not exist for other keys, and cannot be decided by its own', async () => {
    const [client, other] = [await aClient(), await aClient()];
    const { body } = await client.post(PATH, { plan: 'pro' });
    assertRejected(await other.get(`${PATH}/${body.id}`), 404, 'plan_request_not_found');
    for (const [method, path] of [
      ['GET', '/plan-requests'],
      ['GET', `/plan-requests/${body.id}`],
      ['POST', `/plan-requests/${body.id}/approve`],
      ['POST', `/plan-requests/${body.id}/decline`],
    ] as const)
      assertRejected(await client.send(method, path, { body: { message: 'x' } }), 403, 'insufficient_scope');
    const page = await shop.clientWith({
      ...{ kind: 'publishable', scopes: ['pets:read'], origins: ['https://shop.example'] },
    });
    const rejected = await page.post(PATH, { plan: 'pro' });
    assertRejected(rejected, 403, 'insufficient_scope', /^A publishable key cannot .* request a plan/);
  });

  it('costs no quota, and works when the limits are used up and during a ban', async () => {
    const client = await usedUp(shop);
    const limited = await client.get('/pets');
    const message = assertRejected(limited, 429, 'rate_limit_exceeded');
    assert.match(message, /or request a larger plan with POST \/account\/plan-requests$/);
    const { body } = await client.post(PATH, { plan: 'pro' });
    await shop.api.post(`/plan-requests/${body.id}/decline`, { message: 'Not yet' });
    await provokeBan(shop, client);
    assertRejected(await client.get('/pets'), 429, 'api_key_banned');
    const usage = async () => (await shop.api.get(`/keys/${client.keyId}/usage`)).body.windows.day.used;
    const before = await usage();
    assert.equal((await client.post(PATH, { plan: 'business' })).status, 201);
    assert.equal(await usage(), before);
  });

  it('is approved: the plan changes at once, with the events of both', async () => {
    const client = await aClient();
    const { body } = await client.post(PATH, {
      plan: 'enterprise',
      quotas: { perMinute: 700, perDay: 7_000 },
    });
    const events = await eventsOf(shop, async () => {
      const { status, body: approved } = await shop.api.post(`/plan-requests/${body.id}/approve`);
      assert.deepEqual([status, approved.status, approved.decidedAt], [200, 'approved', at('12:00:00.000')]);
    });
    assert.deepEqual(valuesOf(events, 'type'), ['key.updated', 'key.plan_approved']);
    assert.equal((await client.get('/pets')).headers['x-ratelimit-limit'], '700');
    assert.equal((await client.get('/account')).body.planRequest.status, 'approved');
    const again = await shop.api.post(`/plan-requests/${body.id}/approve`);
    assertRejected(again, 409, 'plan_request_decided', /was approved at/);
  });

  it('is approved without a ban in the event, after a reset of the limits has lifted it', async () => {
    const client = await usedUp(shop);
    await provokeBan(shop, client);
    const { body } = await client.post(PATH, { plan: 'pro' });
    await shop.api.delete(`/keys/${client.keyId}/limits`);
    const [updated] = await eventsOf(shop, () => shop.api.post(`/plan-requests/${body.id}/approve`));
    assert.deepEqual([updated!.type, updated!.data.ban], ['key.updated', null]);
  });

  it('is approved completely or not at all: the plan stays if the request cannot be stored', async t => {
    const client = await aClient();
    const { body } = await client.post(PATH, { plan: 'pro' });
    shop.expectErrors(/The test stops it/);
    const broken = t.mock.method(planRequestTable, 'update', () =>
      Promise.reject(new Error('The test stops it')),
    );
    const events = await eventsOf(shop, async () => {
      assertRejected(await shop.api.post(`/plan-requests/${body.id}/approve`), 500, 'internal_error');
    });
    broken.mock.restore();
    assert.deepEqual(valuesOf(events, 'type'), []);
    assert.equal((await shop.api.get(`/keys/${client.keyId}`)).body.plan, 'free');
    assert.equal((await shop.api.post(`/plan-requests/${body.id}/approve`)).status, 200);
    assert.equal((await shop.api.get(`/keys/${client.keyId}`)).body.plan, 'pro');
  });

  it('is declined with a message, and the plan stays', async () => {
    const client = await aClient();
    const { body } = await client.post(PATH, { plan: 'pro' });
    assertInvalid(await shop.api.post(`/plan-requests/${body.id}/decline`, {}));
    // The longest one, which is also the reason of the event.
    const sent = 'Please call us'.padEnd(500, '!');
    const events = await eventsOf(shop, async () => {
      const decline = (message: string) => shop.api.post(`/plan-requests/${body.id}/decline`, { message });
      assertInvalid(await decline(`${sent}!`));
      assert.equal((await decline(sent)).status, 200);
    });
    assert.deepEqual(valuesOf(events, 'type'), ['key.plan_declined']);
    const { status, message } = (await client.get('/account')).body.planRequest;
    assert.deepEqual([status, message], ['declined', sent]);
    assert.equal((await shop.api.get(`/keys/${client.keyId}`)).body.plan, 'free');
    assert.equal((await client.post(PATH, { plan: 'pro' })).status, 201, 'another one');
    const { body: history } = await shop.api.get(
      `/history?subject=keys/${client.keyId}&type=key.plan_declined`,
    );
    assert.equal(history[0].reason, sent);
  });

  it('is rejected for the present plan, and for quotas that do not match it', async () => {
    const client = await aClient();
    for (const body of [
      { plan: 'free' },
      { plan: 'enterprise' },
      { plan: 'pro', quotas: { perMinute: 1, perDay: 1 } },
      { plan: 'gold' },
      { plan: 'pro', note: '' },
    ])
      assertInvalid(await client.post(PATH, body));
    assert.equal((await client.get('/account')).body.planRequest, null);
  });

  it('is accepted for the present plan with another quota', async () => {
    const client = await aClient();
    const request = (quotas: { perMinute: number; perDay: number }) =>
      client.post(PATH, { plan: 'enterprise', quotas });
    const { body } = await request({ perMinute: 700, perDay: 7_000 });
    await shop.api.post(`/plan-requests/${body.id}/approve`);
    assertInvalid(
      await request({ perMinute: 700, perDay: 7_000 }),
      /already has the plan `enterprise` with these/,
    );
    for (const quotas of [
      { perMinute: 701, perDay: 7_000 },
      { perMinute: 700, perDay: 7_001 },
    ]) {
      const created = await request(quotas);
      assert.equal(created.status, 201);
      await shop.api.post(`/plan-requests/${created.body.id}/decline`, { message: 'No' });
    }
  });

  it('of a key that was revoked cannot be approved, but declined', async () => {
    const client = await aClient();
    const { body } = await client.post(PATH, { plan: 'pro' });
    await shop.api.delete(`/keys/${client.keyId}`);
    const approved = await shop.api.post(`/plan-requests/${body.id}/approve`);
    assertRejected(approved, 409, 'api_key_revoked');
    assert.equal((await shop.api.get(`/plan-requests/${body.id}`)).body.status, 'open');
    const declined = await shop.api.post(`/plan-requests/${body.id}/decline`, { message: 'Revoked' });
    assert.equal(declined.status, 200);
  });
});

it('concurrent requests of one key create one open request, and one decision ends it', async t => {
  const racing = await startReplicas(t, { alone: false });
  const { key, keyId } = await racing.clientWith({ plan: 'free', scopes: ['pets:read'] });
  const created = await racing.atOnce(20, api => api.as(key).post(PATH, { plan: 'business' }));
  assert.deepEqual(tally(created), { '201': 1, '409 plan_request_open': 19 });
  const { id } = created.find(({ status }) => status === 201)!.body;
  const decided = await racing.atOnce(20, (api, i) =>
    i % 4 < 2
      ? api.post(`/plan-requests/${id}/approve`)
      : api.post(`/plan-requests/${id}/decline`, { message: 'No' }),
  );
  assert.deepEqual(tally(decided), { '200': 1, '409 plan_request_decided': 19 });
  const { status } = decided.find(response => response.status === 200)!.body;
  const { plan } = (await racing.api.get(`/keys/${keyId}`)).body;
  assert.equal(plan, status === 'approved' ? 'business' : 'free');
  racing.clock.advance(SECOND);
  for (const api of racing.apis)
    assert.equal(
      (await api.as(key).get('/pets')).headers['x-ratelimit-limit'],
      plan === 'business' ? '1000' : '60',
    );
});
