import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { contextOf, SearchIndex } from '../../../web/portal/search-index.js';
import type { Entry } from '../../../web/portal/types.d.ts';
import { settings } from '../../src/config.ts';
import { variablesOf } from '../../src/kit/settings.ts';
import weights from '../../src/portal/search-weights.json' with { type: 'json' };
import { fetchBytes } from '../support/fetch-bytes.ts';
import { useShop } from '../support/use-shop.ts';

let entries: Entry[];
let index: SearchIndex;
useShop({}, async ({ origin }) => {
  entries = JSON.parse((await fetchBytes(`${origin}/docs/search.json`)).text);
  index = new SearchIndex(entries);
  await index.load();
});

/** Questions in the words of developers, each with the right pages. They were written before the search. */
type Questions = Record<string, string[]>;

function questionsIn(file: string): Questions {
  return JSON.parse(readFileSync(join(import.meta.dirname, file), 'utf8'));
}

/** Whether a result is on one of the pages, or at one of the anchors. */
function isRight(url: string, pages: readonly string[]): boolean {
  return pages.some(page => `/docs${page}` === (page.includes('#') ? url : url.split('#', 1)[0]));
}

/** The questions without a right page among the first results. */
function unanswered(questions: Questions, results: number): string[] {
  return Object.entries(questions).flatMap(([question, pages]) => {
    const urls = index
      .find(question)
      .slice(0, results)
      .map(({ entry }) => entry.url);
    return urls.some(url => isRight(url, pages)) ? [] : `${question}: ${urls}`;
  });
}

describe('the search understands questions in the words of developers', () => {
  for (const { file, count, first, three } of [
    { file: 'search-questions', count: 100, first: 95, three: 100 },
    { file: 'search-trial', count: 40, first: 40, three: 40 },
    { file: 'search-further', count: 60, first: 54, three: 60 },
    { file: 'search-short', count: 109, first: 105, three: 109 },
    { file: 'search-menu', count: 122, first: 112, three: 120 },
    // No weight was chosen by these. They were read once, when the search was finished.
    { file: 'search-kept', count: 61, first: 51, three: 59 },
    // The same, by an author who had not seen the names.
    { file: 'search-others', count: 120, first: 110, three: 119 },
  ])
    it(`of ${file}, ${first} of ${count} with the first result and ${three} with the first three`, () => {
      const questions = questionsIn(`${file}.json`);
      assert.equal(Object.keys(questions).length, count);
      const afterFirst = unanswered(questions, 1);
      assert.ok(afterFirst.length <= count - first, afterFirst.join('\n'));
      const afterThree = unanswered(questions, 3);
      assert.ok(afterThree.length <= count - three, afterThree.join('\n'));
    });

  it('and shows the best section of each page before further ones, so that the first three results are three pages', () => {
    for (const question of ['webhook signature', 'ban', 'stock']) {
      const urls = index.find(question).map(({ entry }) => entry.url.split('#', 1)[0]);
      assert.equal(new Set(urls.slice(0, 3)).size, 3, question);
      assert.ok(new Set(urls).size < urls.length, 'further sections are listed, too');
    }
  });

  it('and leads to the beginning of a page, or to the section that alone has the words', () => {
    for (const [question, url] of Object.entries({
      banned: '/docs/guide/bans',
      'exponential backoff': '/docs/guide/backing-off',
      'bearer token or header': '/docs/guide/authentication',
      'rotate api key without downtime': '/docs/guide/authentication#replace-a-secret',
      'what scopes can a key have': '/docs/guide/authentication#scopes',
      'polling vs streaming': '/docs/guide/events#three-ways-to-read-the-log',
      // Also the name of an editor with an agent.
      cursor: '/docs/guide/paging',
      'who am I logged in as': '/docs/operations/getAccount',
      'order status values': '/docs/resources/orders',
      'price of a pet': '/docs/guide/quickstart#what-every-client-should-know',
    }))
      assert.equal(index.find(question)[0]?.entry.url, url, question);
  });

  it('for a name, finds what has it, also while it is typed and with a typing error', () => {
    for (const [text, url] of Object.entries({
      cancelOrder: '/docs/operations/cancelOrder',
      graceSeconds: '/docs/operations/rotateApiKey#body.graceSeconds',
      quantityBel: '/docs/operations/listInventory#query.quantityBelow',
      pet_has_open_orders: '/docs/errors#pet_has_open_orders',
      RATE_LIMIT_EXCEEDED: '/docs/errors#rate_limit_exceeded',
      'webhok signature': '/docs/guide/webhooks#verify-a-signature',
      'GET /pets/{petId}': '/docs/operations/getPet',
      'invalid_api_key although I copied it': '/docs/errors#invalid_api_key',
      // A capital letter at the start makes no name of code.
      SDK: '/docs/client',
      Pagination: '/docs/guide/paging',
    }))
      assert.equal(index.find(text)[0]?.entry.url, url, text);
  });

  it('for other words, finds the right place among the first eight results', () => {
    for (const [text, url] of Object.entries({
      'CANCEL order': '/docs/operations/cancelOrder',
      quantityBelow: '/docs/operations/listInventory#query.quantityBelow',
      'rotate key': '/docs/operations/rotateApiKey',
      'order.placed': '/docs/events#order',
      'backing off': '/docs/guide/backing-off',
      RATE_LIMITED: '/docs/errors#rate_limit_exceeded',
      '409 conflict': '/docs/errors#409-conflict',
      unauthorized: '/docs/errors#invalid_api_key',
      CORS: '/docs/guide/use-the-api-from-a-browser',
    })) {
      const urls = index.find(text).map(({ entry }) => entry.url);
      assert.ok(urls.slice(0, 8).includes(url), `${text}: ${urls.slice(0, 8)}`);
    }
  });

  it('also those of operators, with the first two results', () => {
    for (const [question, chapter] of Object.entries({
      'self-host': '/docs/running',
      'restore a backup': '/docs/running/backup-and-restore',
      'run it in docker compose': '/docs/running/compose-everything-on-one-machine',
      'promote a standby': '/docs/running/postgresql',
      'rolling upgrade': '/docs/running/upgrade-without-downtime',
      settings: '/docs/running/settings',
      petstore_degraded: '/docs/running/what-to-watch',
      'cells of a shop': '/docs/running/scaling',
    })) {
      const pages = index.find(question).map(({ entry }) => entry.url.split('#', 1)[0]);
      assert.ok(pages.slice(0, 2).includes(chapter), `${question}: ${pages.slice(0, 2)}`);
    }
  });

  it('for the name of a setting, finds the table that describes it, also if a metric has the same name', () => {
    for (const { name } of variablesOf(settings).filter(variable => variable.name.includes('_'))) {
      const pages = index.find(name).map(({ entry }) => entry.url);
      // A metric has the same name.
      const first = pages.slice(0, name === 'PETSTORE_DATABASE_QUEUE' ? 2 : 1);
      assert.ok(first.includes('/docs/running/settings'), `${name}: ${pages.slice(0, 3)}`);
    }
  });

  it('and lists the guide before operations, those before errors, and those before fields', () => {
    for (const question of ['webhook', 'rate limit', 'batch']) {
      const levels = index.find(question).map(({ entry }) => entry.level);
      const order = (['guide', 'operation', 'error', 'field'] as const)
        .filter(level => levels.includes(level))
        .map(level => levels.indexOf(level));
      assert.ok(order.length > 2, question);
      assert.deepEqual(
        order,
        order.toSorted((a, b) => a - b),
        question,
      );
    }
  });

  it('without the types and limits of fields, which the pages show', () => {
    const [fields] = entries.filter(({ url }) => url === '/docs/resources/orders#fields');
    assert.match(fields!.text, /^quantity: Number of units ordered/m);
    assert.deepEqual(
      entries.filter(({ text }) => text.length > 7_000).map(({ url, text }) => `${url}: ${text.length}`),
      [],
    );
  });

  it('and has weights for pages that exist', () => {
    const urls = new Set(entries.map(({ url }) => url));
    for (const url of Object.keys(weights)) assert.ok(urls.has(url), url);
  });
});

it('a result shows the sentence with the most words of the question, cut to a line', () => {
  const [found] = index.find('verify webhook signature');
  const context = contextOf(found!.entry.text, found!.matched);
  assert.match(context, /signature/i);
  assert.ok(context.length <= 155, context);
  assert.doesNotMatch(context, /[`|]|\]\(/);
  const [steps] = index.find('set up a webhook');
  assert.match(contextOf(steps!.entry.text, new Set()), /^Send POST \/webhooks/);
  const text = `${'Before. '.repeat(50)}Then the words of a question stand ${'far '.repeat(50)}behind.`;
  assert.match(contextOf(text, new Set(['question'])), /^(… )?.*question.* …$/);
});
