import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { document, documentedOperations } from '../contract/document.ts';
import { eventually, useBrowser } from '../support/browser.ts';
import { PortalPage } from '../support/portal-page.ts';

const visit = useBrowser();

const allIds = documentedOperations.map(({ operation }) => operation.operationId);

function operation(operationId: string) {
  return documentedOperations.find(listed => listed.operation.operationId === operationId)!.operation;
}

/** The operations that a reader sees in the navigation and in the main area. */
async function seen(page: Page): Promise<{ navigation: string[]; main: string[] }> {
  const entries = page.locator('nav[aria-label="Operations"] a[data-operation]').filter({ visible: true });
  const blocks = page.locator('.opblock[id^="operations-"]').filter({ visible: true });
  const [navigation, main] = await Promise.all([
    entries.evaluateAll(links => links.map(link => link.dataset.operation)),
    blocks.evaluateAll(all => all.map(block => block.id.replace(/.*-/, ''))),
  ]);
  return { navigation: navigation.toSorted(), main: main.toSorted() };
}

function both(ids: string[]) {
  return { navigation: ids.toSorted(), main: ids.toSorted() };
}

function openOperations(page: Page): Promise<string[]> {
  return page
    .locator('.opblock:has(.opblock-summary-control[aria-expanded="true"])')
    .evaluateAll(blocks => blocks.map(block => block.id));
}

/** Fails unless an element starts in the upper half of the screen. */
async function assertInView(element: Locator): Promise<void> {
  const isInView = async () => {
    const { y = -1 } = (await element.boundingBox()) ?? {};
    return y >= 0 && y < 450;
  };
  await eventually(isInView, true);
}

describe('the navigation', () => {
  it('shows the groups of the document, the tags with that x-parent, and the operations of each tag', async t => {
    const { page } = await visit(t);
    await new PortalPage(page).open();
    const shown = await page.locator('nav[aria-label="Operations"] section[data-group]').evaluateAll(groups =>
      groups.map(group => ({
        name: group.dataset.group,
        tags: [...group.querySelectorAll('[data-tag]')].map(tag => ({
          name: tag.dataset.tag,
          operations: [...tag.querySelectorAll('a[data-operation]')].map(link => link.dataset.operation),
        })),
        // A group contains only tags.
        ownOperations: [...group.querySelectorAll('a[data-operation]')].filter(
          link => link.closest('[data-tag]') === null,
        ).length,
      })),
    );
    const expected = document['x-tagGroups'].map(({ name, tags }) => ({
      name,
      tags: tags.map(tag => ({
        name: tag,
        operations: documentedOperations
          .filter(listed => listed.operation.tags.includes(tag))
          .map(listed => listed.operation.operationId),
      })),
      ownOperations: 0,
    }));
    assert.deepEqual(shown, expected);
    const parents = shown.flatMap(group => group.tags.map(tag => [tag.name, group.name]));
    const documented = document.tags.filter(tag => tag['x-parent']).map(tag => [tag.name, tag['x-parent']]);
    assert.deepEqual(parents.toSorted(), documented.toSorted());
  });

  it('opens an operation, scrolls to it, and puts its name into the address', async t => {
    const { page } = await visit(t);
    const portal = await new PortalPage(page).open();
    const shown = await portal.show(operation('rotateApiKey'));
    assert.deepEqual(await openOperations(page), ['operations-API_keys-rotateApiKey']);
    assert.equal(new URL(page.url()).hash, '#/API%20keys/rotateApiKey');
    await assertInView(shown);
  });
});

describe('an address that names an operation', () => {
  it('opens it', async t => {
    const { page } = await visit(t);
    const portal = await new PortalPage(page).open('#/API%20keys/rotateApiKey');
    const shown = portal.operation(operation('rotateApiKey'));
    await shown.locator('[data-samples]').waitFor();
    assert.deepEqual(await openOperations(page), ['operations-API_keys-rotateApiKey']);
    await assertInView(shown);
  });

  it('opens it from the guide', async t => {
    const { page } = await visit(t);
    const portal = new PortalPage(page);
    await page.goto('/docs/guide');
    await page.getByRole('link', { name: 'GET /account' }).first().click();
    await portal.ready();
    await portal.operation(operation('getAccount')).locator('[data-samples]').waitFor();
  });

  it('opens nothing when no operation has that name', async t => {
    const { page } = await visit(t);
    await new PortalPage(page).open('#/Animals/noSuchOperation');
    for (const fragment of ['#/Animals', '#content', '#/'])
      await page.evaluate(`location.hash = '${fragment}'`);
    assert.deepEqual(await openOperations(page), []);
    assert.deepEqual(await seen(page), both(allIds));
  });
});

describe('the search', () => {
  it('shows the operations that contain all of its words, in the navigation and in the main area', async t => {
    const { page } = await visit(t);
    await new PortalPage(page).open();
    const search = page.locator('#search');
    const finds: Record<string, string[]> = {
      cancelOrder: ['cancelOrder'],
      'CANCEL an Order': ['cancelOrder'],
      'delete /pets/': ['deletePet'],
      rotate: ['rotateApiKey'],
      'no such thing': [],
    };
    for (const [phrase, found] of Object.entries(finds)) {
      await search.fill(phrase);
      const narrowed = async () => {
        const { navigation, main } = await seen(page);
        return {
          found: found.every(id => navigation.includes(id)),
          same: String(navigation) === String(main),
        };
      };
      await eventually(narrowed, { found: true, same: true }, phrase);
      const { navigation } = await seen(page);
      assert.ok(navigation.length < 6, `${phrase} finds ${navigation}`);
      if (found.length === 0) assert.deepEqual(navigation, []);
      await page
        .getByText(navigation.length === 1 ? '1 operation found' : `${navigation.length} operations found`)
        .waitFor();
    }
    await search.fill('');
    await eventually(() => seen(page), both(allIds));
  });

  it('hides groups and tags without a match, and does not prevent an address from opening its operation', async t => {
    const { page } = await visit(t);
    const portal = await new PortalPage(page).open();
    await page.locator('#search').fill('listCategories');
    await eventually(() => seen(page), both(['listCategories']));
    const headings = page.locator('nav[aria-label="Operations"] :is([data-group], [data-tag])');
    const left = await headings
      .filter({ visible: true })
      .evaluateAll(sections => sections.map(section => section.dataset.group ?? section.dataset.tag));
    assert.deepEqual(left, ['Pets', 'Categories']);
    await page.evaluate("location.hash = '#/Orders/placeOrder'");
    await portal.operation(operation('placeOrder')).locator('[data-samples]').waitFor();
  });
});
