import { operationsOf } from '../../../web/portal/contract.js';
import {
  deprecatedBadge,
  elementId,
  fragmentOf,
  groupedOperations,
  methodLabel,
  operationLine,
  stabilityBadge,
} from '../../../web/portal/operation-list.js';
import type { Contract, ListedOperation } from '../../../web/portal/types.d.ts';
import { element, type Html, html } from '../kit/html.ts';
import type { Assets } from './assets.ts';
import { shell } from './shell.ts';
import { GUIDE_URL, REFERENCE_URL } from './urls.ts';

/** The page of the reference. It lists all operations; its script makes them open. */
export async function referencePage(document: Contract, assets: Assets): Promise<Html> {
  const { title, version, description } = document.info;
  const bundle = await assets.url('swagger-ui-bundle.js');
  const script = await assets.url('reference.js');
  const modules = await assets.importsOf('reference.js');
  return shell({
    title,
    version,
    current: REFERENCE_URL,
    stylesheet: await assets.url('portal.css'),
    themeScript: await assets.url('theme.js'),
    head: html`<link rel="preload" as="fetch" href="/openapi.json" crossorigin>
<script defer src="${bundle}"></script>
${modules.map(url => html`<link rel="modulepreload" href="${url}">`)}
<script type="module" src="${script}"></script>`,
    tools: keyField,
    content: html`<div class="columns">
<div class="sidebar">
<div class="find" role="search">
<label class="visually-hidden" for="search">Search operations</label>
<input id="search" type="search" placeholder="Search operations" autocomplete="off" spellcheck="false">
<button id="menu" type="button" aria-expanded="false" aria-controls="operations-menu">Menu</button>
</div>
<p id="search-status" class="visually-hidden" role="status"></p>
${navigation(document)}
</div>
<main id="content" tabindex="-1">
<h1>${title}</h1>
<p class="lead">${description.split('\n', 1)[0]}</p>
<p>New here? The <a href="${GUIDE_URL}">guide</a> describes authentication, limits, errors, paging and safe retries.
To try operations out, enter your API key above: it stays in this tab.</p>
<noscript><p class="notice">JavaScript is required to open operations and to try them out. The whole contract is in
<a href="/openapi.yaml">openapi.yaml</a>.</p></noscript>
<p class="no-match">No operation matches the search.</p>
<div id="reference">${operationList(document)}</div>
</main>
</div>`,
  });
}

/** Not a form, so that the key never gets into a URL. */
const keyField = html`<div class="key">
<label for="api-key">API key</label>
<input id="api-key" type="password" autocomplete="off" spellcheck="false" placeholder="psk_…">
<button id="api-key-forget" type="button">Forget</button>
</div>`;

function navigation(document: Contract): Html {
  const operations = operationsOf(document);
  const groups = document['x-tagGroups'].map(
    ({ name, tags }) => html`<section data-group="${name}">
<p class="nav-group">${name}</p>
${tags.map(
  tag => html`<div data-tag="${tag}">
<p class="nav-tag">${tag}</p>
<ul>${operations.filter(operation => operation.tag === tag).map(entry)}</ul>
</div>`,
)}
</section>`,
  );
  return html`<nav id="operations-menu" aria-label="Operations">${groups}</nav>`;
}

function entry({ tag, method, operation }: ListedOperation): Html {
  const { operationId, summary, deprecated } = operation;
  return html`<li><a data-operation="${operationId}" href="${fragmentOf(tag, operationId)}">
${methodLabel(element, method)}
<span class="summary">${summary}${deprecated && html` ${deprecatedBadge(element, 'deprecated')}`}
${stabilityBadge(element, operation)}</span></a></li>`;
}

/** If a link is followed before the viewer is loaded, the viewer opens the operation by its URL once it is loaded. */
function operationList(document: Contract): Html {
  const operations = operationsOf(document);
  const linesOf = (tag: string) => operations.filter(listed => listed.tag === tag).map(line);
  return html`<div class="swagger-ui">${groupedOperations(element, document, linesOf)}</div>`;
}

function line(listed: ListedOperation): Html {
  const { tag, operation } = listed;
  const { operationId, deprecated } = operation;
  return html`<div class="opblock${deprecated && ' opblock-deprecated'}" id="${elementId(tag, operationId)}">
<h4 class="opblock-summary"><a class="opblock-summary-control" href="${fragmentOf(tag, operationId)}">
${operationLine(element, listed)}</a></h4></div>`;
}
