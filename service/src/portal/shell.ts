import { type Html, html } from '../kit/html.ts';
import type { Asset } from './assets.ts';
import type { ContractView, Operation } from './contract.ts';
import type { Guide, Manual } from './guide.ts';
import type { Heading } from './markdown.ts';
import {
  CHANGELOG_URL,
  chapterUrl,
  ERRORS_URL,
  EVENTS_URL,
  GUIDE_URL,
  operationUrl,
  PORTAL_URL,
  RUNNING_URL,
  resourceUrl,
  STATUS_URL,
} from './urls.ts';

/** What all pages share. */
export interface Site {
  view: ContractView;
  guide: Guide;
  /** The URL of the service in samples, without a slash at its end. */
  base: string;
  /** Whether the service runs with the demo shop, which readers may change. */
  isDemo: boolean;
  files: Record<'mark' | 'tokens' | 'stylesheet' | 'head' | 'page' | 'form', Asset>;
}

export interface Page {
  url: string;
  title: string;
  content: () => Html;
  previous?: Link | undefined;
  next?: Link | undefined;
}

/** A page to which another one leads. */
interface Link {
  url: string;
  title: string;
}

/**
 * The frame of every page. The script in the head runs before the first paint, for which browsers wait until they have parsed the
 * frame: a bar of which a part is missing would move when the rest arrives.
 */
export function shell(site: Site, { url, title, content, previous, next }: Page): Html {
  const { files, view, base } = site;
  const { info } = view.document;
  // Only the pages of operations have a form.
  const ofForm = url.startsWith(operationUrl('')) ? [files.form.url, ...files.form.imports] : [];
  const modules = new Set([...files.page.imports, ...ofForm]);
  const link = (to: string, text: string) =>
    html`<a href="${to}"${(to === PORTAL_URL ? url === to : url.startsWith(to)) && html` aria-current="true"`}>${text}</a>`;
  return html`<!doctype html>
<html lang="en" data-base="${base}"${site.isDemo && html` data-demo`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · ${info.title}</title>
<link rel="icon" type="image/svg+xml" href="${files.mark.url}">
<link rel="alternate" type="text/markdown" href="${url}.md">
<script src="${files.head.url}"></script>
${files.tokens.imports.map(font => html`<link rel="preload" as="font" type="font/woff2" crossorigin href="${font}">\n`)}<link rel="stylesheet" href="${files.tokens.url}">
<link rel="stylesheet" href="${files.stylesheet.url}">
<link rel="expect" href="#content" blocking="render">
${[...modules].map(module => html`<link rel="modulepreload" href="${module}">\n`)}<script type="module" src="${files.page.url}"></script>
</head>
<body>
<a class="skip-link" href="#content">Skip to the content</a>
<header class="top">
<button class="menu" type="button" popovertarget="navigation" aria-label="Contents">☰</button>
<p class="brand"><a href="${PORTAL_URL}"><img src="${files.mark.url}" alt="" width="28" height="28"><span>${info.title}</span></a></p>
<button id="search" class="needs-script" type="button" aria-label="Search"><span>Search</span> <kbd>/</kbd></button>
<div class="links">${link(GUIDE_URL, 'Guide')}${link(ERRORS_URL, 'Errors')}${link(EVENTS_URL, 'Events')}<a href="/openapi.yaml">openapi.yaml</a><a href="/console">Console</a></div>
<select id="theme" class="needs-script" aria-label="Theme"><option value="">System</option><option value="light">Light</option><option value="dark">Dark</option></select>
</header>
<div class="frame">
<nav id="navigation" aria-label="Contents" popover>
${navigation(site, url)}
</nav>
<main id="content" tabindex="-1">
${content()}
${(previous || next) && pager(previous, next)}</main>
</div>
</body>
</html>
`;
}

function navigation({ view, guide }: Site, url: string): Html {
  const entry = (to: string, text: string | Html) =>
    html`<li><a href="${to}"${to === url && html` aria-current="page"`}>${text}</a></li>\n`;
  const section = (title: string, isOpen: boolean, entries: readonly Html[]) =>
    html`<details${isOpen && html` open`}><summary>${title}</summary><ul>
${entries}</ul></details>\n`;
  const chaptersOf = ({ chapters }: Manual) => chapters.map(({ title, url: to }) => entry(to, title));
  const isOpen = url === PORTAL_URL;
  const ofTag = (tag: string) => {
    const operations = view.withTag(tag);
    const urls = [resourceUrl(tag), ...operations.map(({ id }) => operationUrl(id))];
    return html`<div data-tag="${tag}">${section(tag, isOpen || urls.includes(url), [
      entry(resourceUrl(tag), 'Overview'),
      ...operations.map(operation => entry(operationUrl(operation.id), entryOf(operation))),
    ])}</div>`;
  };
  return html`${section('Guide', isOpen || url.startsWith(GUIDE_URL), chaptersOf(guide))}
${view.document['x-tagGroups'].map(
  ({ name, tags }) => html`<section data-group="${name}"><p>${name}</p>\n${tags.map(ofTag)}</section>\n`,
)}
<section><p>Packages</p><ul>
${guide.readmes.map(({ title, url: to }) => entry(to, title))}</ul></section>
${section('Run the service', isOpen || url.startsWith(RUNNING_URL), [entry(RUNNING_URL, 'Overview'), ...chaptersOf(guide.running)])}
<section><p>Reference</p><ul>
${entry(ERRORS_URL, 'Error codes')}${entry(EVENTS_URL, 'Types of events')}${entry(CHANGELOG_URL, 'Changelog')}${entry(STATUS_URL, 'Status')}</ul></section>`;
}

function entryOf(operation: Operation): Html {
  const { method, summary } = operation;
  return html`${methodLabel(method)}<span>${summary}${badges(operation, false)}</span>`;
}

export function methodLabel(method: string): Html {
  return html`<span class="method" data-method="${method}">${method}</span> `;
}

/** The badges of an operation, each with a link to its meaning unless they are in a link. */
export function badges({ stability, deprecation }: Operation, areLinks = true): Html {
  const meaning = chapterUrl('Versions and deprecation');
  const badge = (kind: Html, text: string) =>
    areLinks
      ? html` <a class="badge" ${kind} href="${meaning}#${text}">${text}</a>`
      : html` <span class="badge" ${kind}>${text}</span>`;
  return html`${stability && badge(html`data-stability="${stability}"`, stability)}${
    deprecation && badge(html`data-deprecated="${deprecation.sunset}"`, 'deprecated')
  }`;
}

/** Links to the pages before and after this one, in the order of the navigation. */
function pager(previous: Link | undefined, next: Link | undefined): Html {
  return html`<nav class="pager" aria-label="Previous and next page">${
    previous &&
    html`<a rel="prev" href="${previous.url}"><span class="small-note">Previous</span> ${previous.title}</a>`
  }${next && html`<a rel="next" href="${next.url}"><span class="small-note">Next</span> ${next.title}</a>`}</nav>
`;
}

/** Links to the headings of a page; none if there are too few to need them. */
export function onPage(headings: readonly Heading[]): Html | undefined {
  if (headings.length < 2) return undefined;
  return html`<nav class="on-page" aria-label="On this page"><div><p>On this page</p>
<ul>${headings.map(
    ({ title, anchor, depth }) => html`<li data-depth="${depth}"><a href="#${anchor}">${title}</a></li>\n`,
  )}</ul></div></nav>`;
}

/** What ends the content of every page. */
export function markdownTools(url: string): Html {
  return html`<p class="page-tools note"><a href="${url}.md">This page as Markdown</a> <button class="needs-script" type="button">Copy as Markdown</button></p>`;
}
