import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { planLimits, plans } from '../../src/access/plans/plan.ts';
import { scopes } from '../../src/contract/scopes.ts';
import { document, documentedOperations } from '../contract/document.ts';
import { fetchBytes } from '../support/fetch-bytes.ts';
import { startTestApp } from '../support/test-app.ts';

/** The guide as the service sends it, before any script runs. */
let guide = '';
const resources = new AsyncDisposableStack();
before(async () => {
  const { origin } = await startTestApp({
    after: (release: () => Promise<void>) => resources.defer(release),
  });
  const { status, text } = await fetchBytes(`${origin}/docs/guide`);
  assert.equal(status, 200);
  guide = text;
});
after(() => resources.disposeAsync());

/** The rows of the table whose first column has this heading: the text of each cell, without the row of headings. */
function tableWithColumn(page: string, firstColumn: string): string[][] {
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
  it('shows every error code with its status and its meaning', () => {
    const shown = tableWithColumn(guide, 'Status').map(([status, code = '', meaning]) => [
      code,
      Number(status),
      meaning,
    ]);
    const codes = Object.entries(document['x-error-codes']).map(([code, { status, description }]) => [
      code,
      status,
      description.replaceAll('`', ''),
    ]);
    assert.ok(codes.length > 30);
    assert.deepEqual(shown.toSorted(), codes.toSorted());
  });

  it('shows the limits of every plan', () => {
    const shown = tableWithColumn(guide, 'Plan');
    const expected = plans.map(plan => {
      const { perMinute, perDay } = { ...planLimits, enterprise: {} as Record<string, undefined> }[plan];
      const text = (limit?: number) => limit?.toLocaleString('en') ?? 'as agreed';
      return [plan, text(perMinute), text(perDay)];
    });
    assert.deepEqual(
      shown.map(([plan = '', ...limits]) => [plan.toLowerCase(), ...limits]),
      expected,
    );
  });

  it('shows every scope with what it allows', () => {
    assert.deepEqual(Object.fromEntries(tableWithColumn(guide, 'Scope')), scopes);
  });

  it('shows every deprecated operation with its sunset date, and every experimental or beta operation', () => {
    const named = documentedOperations.map(({ method, path, operation }) => ({
      name: `${method} ${path}`,
      ...operation,
    }));
    assert.deepEqual(
      tableWithColumn(guide, 'Operation').map(([operation, , end, successor]) => [operation, end, successor]),
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

  it('explains how to authenticate, page, retry and replace deprecated operations', () => {
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

  it('has no broken link', () => {
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
