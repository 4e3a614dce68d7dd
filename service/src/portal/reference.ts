import { type Html, html } from '../kit/html.ts';
import type { Assets } from './assets.ts';
import { type ContractDocument, type ListedOperation, operationsOf } from './contract.ts';
import { shell } from './shell.ts';
import { GUIDE_URL, operationFragment, REFERENCE_URL } from './urls.ts';

/** The page of the reference: all operations are listed in it, and its script makes them open. */
export async function referencePage(document: ContractDocument, assets: Assets): Promise<Html> {
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
<p>New here? The <a href="${GUIDE_URL}">guide</a> tells of authentication, limits, errors, paging and safe retries.
To try operations out, enter your API key above: it stays in this tab.</p>
<noscript><p class="notice">To open operations and to try them out the page needs JavaScript. The whole contract is
<a href="/openapi.yaml">openapi.yaml</a>.</p></noscript>
<p class="no-match">No operation matches the search.</p>
<div id="reference">${operationList(document)}</div>
</main>
</div>`,
  });
}

/** Not a form: nothing may ever put the key into a URL. */
const keyField = html`<div class="key">
<label for="api-key">API key</label>
<input id="api-key" type="password" autocomplete="off" spellcheck="false" placeholder="psk_…">
<button id="api-key-forget" type="button">Forget</button>
</div>`;

function navigation(document: ContractDocument): Html {
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

function entry(operation: ListedOperation): Html {
  const { tag, operationId, method, summary, deprecated } = operation;
  return html`<li><a data-operation="${operationId}" href="${operationFragment(tag, operationId)}">
${methodLabel(method)}
<span class="summary">${summary}${deprecated && html` <span class="badge" data-deprecated>deprecated</span>`}
${stabilityBadge(operation)}</span></a></li>`;
}

/**
 * The operations as the script will list them, so that they are there while the viewer is still loading: the same
 * elements and classes as in `web/portal/plugin.js` and `operation.js`. A line that is followed before then is opened
 * by its address as soon as it can be.
 */
function operationList(document: ContractDocument): Html {
  const operations = operationsOf(document);
  const descriptions = new Map(document.tags.map(({ name, description }) => [name, description]));
  const groups = document['x-tagGroups'].map(
    ({ name, tags }) => html`<section class="group" aria-label="${name}">
<h2>${name}</h2><p>${descriptions.get(name)}</p>
${tags.map(
  tag => html`<section class="tag" aria-label="${tag}">
<h3>${tag}</h3><p>${descriptions.get(tag)}</p>
${operations.filter(operation => operation.tag === tag).map(line)}
</section>`,
)}
</section>`,
  );
  return html`<div class="swagger-ui">${groups}</div>`;
}

function line(operation: ListedOperation): Html {
  const { tag, operationId, method, path, summary, deprecated } = operation;
  return html`<div class="opblock${deprecated && ' opblock-deprecated'}" id="${elementId(tag, operationId)}">
<h4 class="opblock-summary"><a class="opblock-summary-control" href="${operationFragment(tag, operationId)}">
${methodLabel(method)}<span class="opblock-summary-path">${path}</span>
<span class="opblock-summary-description">${summary}</span>
${deprecated && html`<span class="badge" data-deprecated>deprecated, ends ${operation['x-deprecated-sunset']}</span>`}
${stabilityBadge(operation)}</a></h4></div>`;
}

/** The ID that the viewer gives to an operation. */
function elementId(tag: string, operationId: string): string {
  return `operations-${tag}-${operationId}`.replaceAll(' ', '_');
}

function methodLabel(method: string): Html {
  return html`<span class="method" data-method="${method}">${method.toUpperCase()}</span>`;
}

function stabilityBadge({ 'x-stability': stability }: ListedOperation): Html | undefined {
  if (stability === undefined) return undefined;
  return html`<span class="badge" data-stability="${stability}">${stability}</span>`;
}
