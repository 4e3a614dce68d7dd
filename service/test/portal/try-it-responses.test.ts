import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { documentedOperations } from '../contract/document.ts';
import { useBrowser } from '../support/browser.ts';
import { aCategory } from '../support/factories.ts';
import { PortalPage } from '../support/portal-page.ts';

const visit = useBrowser();

function operation(operationId: string) {
  return documentedOperations.find(listed => listed.operation.operationId === operationId)!.operation;
}

describe('the response of an operation that was tried out', () => {
  it('is the created pet, the same pet found by its ID in two ways, and an error after its deletion', async t => {
    const { page, shop, watch } = await visit(t);
    const categoryId = await aCategory(shop.api);
    const portal = await new PortalPage(page).open();
    await portal.useKey(shop.adminKey);

    const body = { name: 'Laika', categoryId, status: 'pending' };
    const created = await portal.tryOut(operation('createPet'), { body });
    assert.equal(created.status, 201);
    const pet = await created.response.json();
    assert.deepEqual(pet, { id: pet.id, ...body });
    assert.equal(await created.response.headerValue('location'), `/pets/${pet.id}`);

    const read = await portal.tryOut(operation('getPet'), { parameters: { petId: pet.id } });
    assert.deepEqual([read.status, await read.response.json()], [200, pet]);

    const list = await portal.show(operation('listPets'));
    await list.locator('.try-out__btn').click();
    await list.locator('[data-param-name="id"] .json-schema-form-item-add').click();
    await list.locator('[data-param-name="id"] input').fill(String(pet.id));
    const found = await portal.execute(operation('listPets'));
    assert.equal(new URL(found.response.url()).search, `?id=${pet.id}`);
    assert.deepEqual([found.status, await found.response.json()], [200, [pet]]);
    const shown = await portal
      .operation(operation('listPets'))
      .locator('.live-response pre')
      .first()
      .innerText();
    assert.deepEqual(JSON.parse(shown), [pet]);

    assert.equal((await shop.api.delete(`/pets/${pet.id}`)).status, 204);
    watch.expect(/status of 404/);
    const deleted = await portal.execute(operation('getPet'));
    assert.equal(deleted.status, 404);
    const error = portal.operation(operation('getPet')).locator('.live-response pre').first();
    assert.equal(JSON.parse(await error.innerText()).code, 'pet_not_found');
  });

  it('shows the remaining requests, and how long to wait when none remain', async t => {
    const { page, shop, watch } = await visit(t);
    const { key } = await shop.clientWith({ plan: 'enterprise', quotas: { perMinute: 2, perDay: 100 } });
    const portal = await new PortalPage(page).open();
    await portal.useKey(key);
    const first = await portal.tryOut(operation('listCategories'));
    const second = await portal.execute(operation('listCategories'));
    watch.expect(/status of 429/);
    const third = await portal.execute(operation('listCategories'));
    const reset = (Math.floor(shop.clock.now() / 60_000) + 1) * 60;
    const limits = { 'X-RateLimit-Limit': 2, 'X-RateLimit-Reset': reset };
    assert.deepEqual([first.status, first.limits], [200, { ...limits, 'X-RateLimit-Remaining': 1 }]);
    assert.deepEqual([second.status, second.limits], [200, { ...limits, 'X-RateLimit-Remaining': 0 }]);
    assert.equal(third.status, 429);
    const retryAfter = Number(await third.response.headerValue('retry-after'));
    assert.ok(retryAfter > 0);
    assert.deepEqual(third.limits, { ...limits, 'X-RateLimit-Remaining': 0, 'Retry-After': retryAfter });
  });
});
