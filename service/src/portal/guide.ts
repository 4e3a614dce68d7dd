import { operationsOf } from '../../../web/portal/contract.js';
import { stabilityBadge } from '../../../web/portal/operation-list.js';
import type { Contract, ListedOperation, Parameter } from '../../../web/portal/types.d.ts';
import { planLimits, plans } from '../access/plans/plan.ts';
import { pageLimit } from '../contract/schema.ts';
import { scopes } from '../contract/scopes.ts';
import { element, type Html, html, type Part } from '../kit/html.ts';
import { grouped } from '../kit/quantities.ts';
import { capitalised } from '../kit/text.ts';
import type { Assets } from './assets.ts';
import { shell } from './shell.ts';
import { GUIDE_URL, operationUrl } from './urls.ts';

interface Section {
  id: string;
  title: string;
  content: Html;
}

/** The page of the guide. Its tables come from the code: plans, scopes, error codes, deprecations. */
export async function guidePage(document: Contract, assets: Assets): Promise<Html> {
  const sections = [
    authentication(),
    limits(document),
    errors(document),
    paging(),
    safeRetries(document),
    lifecycle(document),
  ];
  return shell({
    title: document.info.title,
    version: document.info.version,
    current: GUIDE_URL,
    stylesheet: await assets.url('portal.css'),
    themeScript: await assets.url('theme.js'),
    content: html`<div class="columns">
<div class="sidebar">
<nav class="contents" aria-label="Contents"><ul>
${sections.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}
</ul></nav>
</div>
<main id="content" class="guide" tabindex="-1">
<h1>Guide</h1>
<p class="lead">Rules for all operations. The <a href="/docs">reference</a> describes each operation.</p>
${sections.map(
  ({ id, title, content }) => html`<section id="${id}">
<h2><a href="#${id}">${title}</a></h2>
${content}
</section>`,
)}
</main>
</div>`,
  });
}

function authentication(): Section {
  return {
    id: 'authentication',
    title: 'Authentication',
    content: html`<p>Send your API key with every request, in one of two headers:</p>
<pre tabindex="0"><code>X-API-Key: psk_…
Authorization: Bearer psk_…</code></pre>
<p>Keep the key out of URLs, logs and repositories. It was shown once, when it was created. An administrator can replace its
secret without an interruption: <a href="${operationUrl('API keys', 'rotateApiKey')}">rotate it</a>.</p>
<p>A key has scopes. Each operation lists the scopes that it requires. A <code>:write</code> scope does not include the
<code>:read</code> scope of the same resources.</p>
${table(
  'Scopes',
  ['Scope', 'Allows'],
  Object.entries(scopes).map(([scope, meaning]) => [code(scope), meaning]),
)}`,
  };
}

function limits({ components: { headers } }: Contract): Section {
  const limitHeaders = [
    'X-RateLimit-Limit',
    'X-RateLimit-Remaining',
    'X-RateLimit-Reset',
    'RateLimit-Policy',
    'RateLimit',
    'Retry-After',
  ];
  return {
    id: 'limits',
    title: 'Limits by plan',
    content: html`<p>The plan of a key limits its requests per minute and per day. Minutes and days are those of UTC; both limits
are exact.</p>
${table(
  'Limits by plan',
  ['Plan', 'Requests per minute', 'Requests per day'],
  plans.map(plan => [capitalised(plan), ...limitsOf(plan)]),
)}
<p>Every response shows the state of the window with fewer requests left:</p>
${table(
  'Headers about limits',
  ['Header', 'Meaning'],
  limitHeaders.map(name => [code(name), prose(headers[name]!.description)]),
)}
<p>A request over the limit gets 429 and does not count. Wait for the number of seconds in <code>Retry-After</code>, then send
it again. If it is rejected again, wait longer each time (exponential backoff, with a random part). A key that keeps sending requests
without waiting is banned for some time: 429 <code>api_key_banned</code>.
<a href="${operationUrl('Account', 'getAccount')}">GET /account</a> works even then, and shows both windows.</p>`,
  };
}

function limitsOf(plan: (typeof plans)[number]): string[] {
  if (plan === 'enterprise') return ['as agreed', 'as agreed'];
  const { perMinute, perDay } = planLimits[plan];
  return [grouped(perMinute), grouped(perDay)];
}

function errors({ 'x-error-codes': catalogue }: Contract): Section {
  const codes = Object.entries(catalogue).sort(([, a], [, b]) => a.status - b.status);
  return {
    id: 'errors',
    title: 'Errors',
    content: html`<p>Every error has the same three fields. Programs should use <code>code</code>. <code>message</code> is for
people and describes the problem. <code>status</code> repeats the HTTP status.</p>
<pre tabindex="0"><code>{ "code": "pet_not_found", "message": "There is no pet 42", "status": 404 }</code></pre>
${table(
  'Error codes',
  ['Status', 'Code', 'Meaning'],
  codes.map(([name, { status, description }]) => [status, code(name), prose(description)]),
)}`,
  };
}

function paging(): Section {
  return {
    id: 'paging',
    title: 'Paging',
    content: html`<p>A list is a JSON array of at most <code>limit</code> items: ${pageLimit.minimum} to ${pageLimit.maximum},
${pageLimit.default} by default. Unless the page is the last, the <code>Link</code> header has the URL of the next page. Use this
URL unchanged; do not build cursors yourself.</p>
<pre tabindex="0"><code>Link: &lt;/pets?limit=${pageLimit.default}&amp;cursor=WyJpZCIsMjBd&gt;; rel="next"</code></pre>
<p>The last page has no such link. Items that are created or deleted between two pages do not make other items appear twice or
go missing.</p>`,
  };
}

function safeRetries({ components: { parameters } }: Contract): Section {
  const { IdempotencyKey, IfMatch, IfNoneMatch } = parameters;
  const row = (parameter: Parameter | undefined, on: string): Part[] => [
    code(parameter!.name),
    on,
    prose(parameter!.description ?? ''),
  ];
  return {
    id: 'idempotency',
    title: 'Idempotency and safe retries',
    content: html`<p>When a connection breaks, you do not know whether the request was carried out. You can repeat GET, PUT, PATCH
and DELETE unchanged. Send every POST with an <code>Idempotency-Key</code>, such as a UUID, and repeat it with the same key: it
is carried out once, and the response to the repetition has the header <code>Idempotency-Replayed: true</code>.</p>
${table(
  'Request headers for safe retries',
  ['Header', 'On', 'Meaning'],
  [
    row(IdempotencyKey, 'POST'),
    row(IfMatch, 'PUT, PATCH, DELETE'),
    row(IfNoneMatch, 'GET of a single resource'),
  ],
)}
<p>A different request with the same key gets 422 <code>idempotency_key_reused</code>. While the first request is still running,
a repetition gets 409 <code>idempotency_key_in_use</code>.</p>`,
  };
}

function lifecycle(document: Contract): Section {
  const operations = operationsOf(document);
  const deprecated = operations.filter(({ operation }) => operation.deprecated);
  const unsettled = operations.filter(({ operation }) => operation['x-stability'] !== undefined);
  return {
    id: 'deprecation',
    title: 'Versions and deprecation',
    content: html`<p>The API has version ${document.info.version}. Every response of a deprecated operation has three headers:
<code>Deprecation</code> with the date of the deprecation, <code>Sunset</code> with the date of its end, and <code>Link</code> with
<code>rel="successor-version"</code> for its replacement. From the sunset date it returns 410
<code>operation_sunset</code>.</p>
${
  deprecated.length > 0 &&
  table(
    'Deprecated operations',
    ['Operation', 'Deprecated since', 'Ends on', 'Use instead'],
    deprecated.map(listed => [
      linkTo(listed),
      day(listed.operation['x-deprecated-since']),
      day(listed.operation['x-deprecated-sunset']),
      code(listed.operation['x-deprecated-successor'] ?? ''),
    ]),
  )
}
<p>Operations marked <code>experimental</code> may change at any time, those marked <code>beta</code> only with an entry in
the changelog. Their responses have the header <code>X-Stability</code>.</p>
${
  unsettled.length > 0 &&
  table(
    'Operations that may still change',
    ['Operation', 'Stability'],
    unsettled.map(listed => [linkTo(listed), stabilityBadge(element, listed.operation)]),
  )
}`,
  };
}

function linkTo({ tag, method, path, operation: { operationId } }: ListedOperation): Html {
  return html`<a href="${operationUrl(tag, operationId)}">${method.toUpperCase()} ${path}</a>`;
}

function day(date: string | undefined): Html {
  return html`<time datetime="${date}">${date}</time>`;
}

/** A table with a label. A wide table scrolls in its own region, which the keyboard can focus. */
function table(caption: string, columns: readonly string[], rows: readonly (readonly Part[])[]): Html {
  return html`<div class="table" role="region" aria-label="${caption}" tabindex="0"><table>
<thead><tr>${columns.map(column => html`<th scope="col">${column}</th>`)}</tr></thead>
<tbody>
${rows.map(row => html`<tr>${row.map(cell => html`<td>${cell}</td>`)}</tr>\n`)}</tbody>
</table></div>`;
}

function code(text: string): Html {
  return html`<code>${text}</code>`;
}

/** A line of CommonMark from the contract, which uses only code spans. */
function prose(text: string): Html {
  return html`${text.split('`').map((part, i) => (i % 2 ? code(part) : part))}`;
}
