import { Content } from '../kit/content.ts';
import { html } from '../kit/html.ts';
import type { Assets } from './assets.ts';
import type { ContractView } from './contract.ts';
import { type Document, documentsOf, installation } from './documents.ts';
import { rendered } from './markdown.ts';
import { operationLine, operationMarkdown } from './operation-markdown.ts';
import { operationPage } from './operation-page.ts';
import { searchEntries } from './search-entries.ts';
import { markdownTools, type Page, type Site, shell } from './shell.ts';
import { chapterUrl, operationUrl, PORTAL_URL, SEARCH_URL } from './urls.ts';

const types = {
  html: 'text/html; charset=utf-8',
  markdown: 'text/markdown; charset=utf-8',
  text: 'text/plain; charset=utf-8',
  json: 'application/json; charset=utf-8',
};

/** The developer portal. Each page is rendered at the first request for it, and then stays in memory. */
export class Portal {
  readonly #assets: Assets;
  /** The pages by path. */
  readonly #pages: ReadonlyMap<string, () => Content>;
  /** What browsers show at an address without a page, with the whole navigation. */
  readonly notFound: () => Content;

  constructor(site: Site, assets: Assets) {
    const { view, guide, base } = site;
    const operations = view.operations.map(operation => ({
      url: operationUrl(operation.id),
      title: operation.summary,
      markdown: () => operationMarkdown(view, operation, base),
      content: () => operationPage(site, operation),
    }));
    const written = documentsOf(view, guide, base);
    const documents = written.map(({ url, title, markdown }) => ({
      url,
      title,
      markdown: () => markdown,
      content: () => html`<article class="document">${rendered(markdown)}
${markdownTools(url)}</article>`,
    }));
    const pages = [...documents, ...operations];
    this.#assets = assets;
    this.notFound = once(types.html, () => shell(site, notFoundPage).text);
    this.#pages = new Map([
      ...pages.map(page => [page.url, once(types.html, () => shell(site, page).text)] as const),
      ...pages.map(({ url, markdown }) => [`${url}.md`, once(types.markdown, markdown)] as const),
      ['/llms.txt', once(types.text, () => summary(view, written, base))],
      ['/llms-full.txt', once(types.text, () => pages.map(({ markdown }) => markdown()).join('\n\n'))],
      [SEARCH_URL, once(types.json, () => JSON.stringify(searchEntries(view, written)))],
    ]);
  }

  /** The page at a path, as HTML or as Markdown; `undefined` if there is none. Paths with `.md` are always Markdown. */
  page(path: string, format: 'html' | 'markdown'): Content | undefined {
    const markdown = format === 'markdown' ? this.#pages.get(`${path}.md`) : undefined;
    return (markdown ?? this.#pages.get(path))?.();
  }

  /** A file by its URL. */
  asset(url: string): Content | undefined {
    return this.#assets.at(url);
  }
}

const notFoundPage: Page = {
  url: PORTAL_URL,
  title: 'Page not found',
  content: () => html`<article class="document"><h1>Page not found</h1>
<p>There is no page at this address. Look for it in the contents or with the search, or begin at the <a href="${PORTAL_URL}">start page</a>.</p></article>`,
};

/** Content that is made at the first call. */
function once(type: string, text: () => string): () => Content {
  let content: Content | undefined;
  return () => {
    content ??= new Content(type, text());
    return content;
  };
}

/** The table of contents for language models, as https://llmstxt.org describes it. */
function summary(view: ContractView, documents: readonly Document[], base: string): string {
  const { info } = view.document;
  const pages = documents.map(({ url, title }) => `- [${title}](${url}.md)`);
  const operations = view.operations.map(operation =>
    operationLine(operation).replace(/\]\(([^)]+)\)/, ']($1.md)'),
  );
  return `# ${info.title}

> ${info.description.split('\n', 1)[0]}

Everything on one page: [llms-full.txt](/llms-full.txt). The contract: [openapi.yaml](/openapi.yaml). Tools for agents, instead of requests: [petstore mcp](${chapterUrl('Agents')}.md).

## Packages

${installation(base)}
## Documents

${pages.join('\n')}

## Operations

${operations.join('\n')}
`;
}
