import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { planLimits, plans } from '../../src/access/plans/plan.ts';
import { scopes } from '../../src/contract/scopes.ts';
import { document, documentedOperations } from '../contract/document.ts';
import { fetchBytes } from '../support/fetch-bytes.ts';
import { startTestApp } from '../support/test-app.ts';

/** The guide as it is sent: no script has touched it. */
async function readGuide(t: TestContext): Promise<string> {
  const { origin } = await startTestApp(t);
  const { status, text } = await fetchBytes(`${origin}/docs/guide`);
  assert.equal(status, 200);
  return text;
}

/** The rows of the table whose first column is headed so, each as the text of its cells; without the head. */
function tableHeaded(page: string, firstColumn: string): string[][] {
  for (const [table] of page.matchAll(/<table.*?<\/table>/gs)) {
    const [head, ...rows] = [...table.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row]) =>
      [...row!.matchAll(/<t[dh][^>]*>(.*?)<\/t[dh]>/gs)].map(([, cell]) => textOf(cell!)),
    );
    if (head?.[0] === firstColumn) return rows;
  }
  throw new Error(`There is no table whose first column is ${JSON.stringify(firstColumn)}`);
}

const characters: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

function textOf(html: string): string {
  return html.replace(/<[^>]*>/g, '').replace(/&([\w#]+);/g, (_, name) => characters[name]!);
}

describe('the guide of the portal', () => {
  it('has every error code with its status and its meaning', async t => {
    const told = tableHeaded(await readGuide(t), 'Status').map(([status, code = '', meaning]) => [
      code,
      Number(status),
      meaning,
    ]);
    const codes = Object.entries(document.components['x-error-codes']).map(
      ([code, { status, description }]) => [code, status, description.replaceAll('`', '')],
    );
    assert.ok(codes.length > 30);
    assert.deepEqual(told.toSorted(), codes.toSorted());
  });

  it('has the limits of every plan', async t => {
    const told = tableHeaded(await readGuide(t), 'Plan');
    const expected = plans.map(plan => {
      const { perMinute, perDay } = { ...planLimits, enterprise: {} as Record<string, undefined> }[plan];
      const shown = (limit?: number) => limit?.toLocaleString('en') ?? 'as agreed';
      return [plan, shown(perMinute), shown(perDay)];
    });
    assert.deepEqual(
      told.map(([plan = '', ...limits]) => [plan.toLowerCase(), ...limits]),
      expected,
    );
  });

  it('has every scope with what it allows', async t => {
    assert.deepEqual(Object.fromEntries(tableHeaded(await readGuide(t), 'Scope')), scopes);
  });

  it('has every deprecated operation with its end, and every one that may still change', async t => {
    const guide = await readGuide(t);
    const named = documentedOperations.map(({ method, path, operation }) => ({
      name: `${method} ${path}`,
      ...operation,
    }));
    assert.deepEqual(
      tableHeaded(guide, 'Operation').map(([operation, , end, successor]) => [operation, end, successor]),
      named
        .filter(({ deprecated }) => deprecated)
        .map(operation => [
          operation.name,
          operation['x-deprecated-sunset'],
          operation['x-deprecated-successor'],
        ]),
    );
    const text = textOf(guide);
    for (const { name } of named.filter(operation => operation['x-stability']))
      assert.ok(text.includes(name), name);
  });

  it('tells how to authenticate, to page, to retry and to do without what is deprecated', async t => {
    const guide = await readGuide(t);
    const text = textOf(guide);
    for (const word of [
      'X-API-Key',
      'Authorization: Bearer',
      'rel="next"',
      'Idempotency-Key',
      'If-Match',
      'If-None-Match',
      'Retry-After',
      'X-RateLimit-Remaining',
      'Deprecation',
      'Sunset',
    ])
      assert.ok(text.includes(word), word);
  });

  it('links to what is there', async t => {
    const guide = await readGuide(t);
    const links = [...guide.matchAll(/<a [^>]*href="([^"]+)"/g)].map(([, link]) => link!);
    const operations = documentedOperations.map(
      ({ operation: { tags, operationId } }) => `/docs#/${encodeURIComponent(tags[0]!)}/${operationId}`,
    );
    const known = ['/docs', '/docs/guide', '/openapi.yaml', '/openapi.json', ...operations];
    assert.ok(links.length > 10);
    for (const link of links) {
      if (link.startsWith('#')) assert.ok(guide.includes(` id="${link.slice(1)}"`), link);
      else assert.ok(known.includes(link), link);
    }
  });
});
