import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Contract } from '../../../web/portal/types.d.ts';
import { planLimits } from '../access/plans/plan.ts';
import { errorCatalogue } from '../contract/errors.ts';
import { scopes } from '../contract/scopes.ts';
import { html } from '../kit/html.ts';
import { Assets } from './assets.ts';

import { guidePage } from './guide.ts';

const codes = Object.entries(errorCatalogue).map(([code, description], i) => [
  code,
  { status: 400 + i, description },
]);

const anyComponent = new Proxy(
  {},
  { get: (_, name) => ({ name, description: `About \`${String(name)}\` <here>.` }) },
);

const document = {
  info: { title: 'Pet Store', version: '1.2.3', description: '' },
  tags: [],
  'x-tagGroups': [],
  paths: {
    '/old/{id}': {
      get: {
        operationId: 'getOld',
        tags: ['Two words'],
        summary: 'Old',
        deprecated: true,
        'x-deprecated-since': '2026-11-21',
        'x-deprecated-sunset': '2030-12-05',
        'x-deprecated-successor': '/new?id={id}',
      },
    },
    '/new': { post: { operationId: 'makeNew', tags: ['Animals'], summary: 'New', 'x-stability': 'beta' } },
  },
  components: { parameters: anyComponent, headers: anyComponent },
  'x-error-codes': Object.fromEntries(codes),
} as unknown as Contract;

const page = (await guidePage(document, new Assets())).text;

describe('the guide', () => {
  it('lists every error code with its status and meaning', () => {
    Object.entries(errorCatalogue).forEach(([code, description], i) => {
      const meaning = html`${description}`.text;
      assert.ok(page.includes(`<td>${400 + i}</td><td><code>${code}</code></td><td>${meaning}</td>`), code);
    });
  });

  it('lists every plan with its limits', () => {
    for (const [plan, { perMinute, perDay }] of Object.entries(planLimits)) {
      const row = `<td>${perMinute.toLocaleString('en')}</td><td>${perDay.toLocaleString('en')}</td>`;
      assert.match(page.toLowerCase(), new RegExp(`<td>${plan}</td>${row}`));
    }
    assert.ok(page.includes('<td>Enterprise</td><td>as agreed</td><td>as agreed</td>'));
  });

  it('lists every scope', () => {
    for (const [scope, meaning] of Object.entries(scopes)) {
      assert.ok(page.includes(`<td><code>${scope}</code></td><td>${meaning}</td>`), scope);
    }
  });

  it('lists deprecated operations with their days and successors', () => {
    assert.ok(
      page.includes(
        '<td><a href="/docs#/Two%20words/getOld">GET /old/{id}</a></td>' +
          '<td><time datetime="2026-11-21">2026-11-21</time></td>' +
          '<td><time datetime="2030-12-05">2030-12-05</time></td><td><code>/new?id={id}</code></td>',
      ),
    );
  });

  it('lists operations that may still change', () => {
    assert.ok(page.includes('<a href="/docs#/Animals/makeNew">POST /new</a></td><td><span class="badge"'));
  });

  it('escapes text of the contract', () => {
    assert.ok(page.includes('About <code>Retry-After</code> &lt;here&gt;.'));
  });
});
