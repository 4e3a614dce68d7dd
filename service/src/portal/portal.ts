import { Content } from '../kit/content.ts';
import { type Html, html } from '../kit/html.ts';
import type { Assets } from './assets.ts';
import type { ContractView } from './contract.ts';
import { type Document, documentsOf, installation, markdownOf } from './documents.ts';
import { type Health, working } from './health.ts';
import { headingsOf, rendered } from './markdown.ts';
import { operationLine, operationMarkdown } from './operation-markdown.ts';
import { operationPage } from './operation-page.ts';
import { searchEntries } from './search-entries.ts';
import { markdownTools, onPage, type Page, type Site, shell } from './shell.ts';
import { chapterUrl, operationUrl, PORTAL_URL, resourceUrl, SEARCH_URL } from './urls.ts';

const types = {
  html: 'text/html; charset=utf-8',
  markdown: 'text/markdown; charset=utf-8',
  text: 'text/plain; charset=utf-8',
  json: 'application/json; charset=utf-8',
};

/** The developer portal. Each page is rendered at the first request for it, and then stays in memory. */
export class Portal {
  readonly #assets: Assets;
  /** The pages by path. Those in `#live` depend on the state of the service. */
  readonly #pages: ReadonlyMap<string, (health: Health) => Content>;
  readonly #live: ReadonlySet<string>;
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
    const documents = written.map(document => ({
      ...document,
      markdown: (health: Health) => markdownOf(document, health),
      content: (health: Health) => documentPage(document, health),
    }));
    const pages = readingOrder(view, [...documents, ...operations]);
    const full = (health: Health) => pages.map(({ markdown }) => markdown(health)).join('\n\n');
    const live = written.filter(({ markdown }) => typeof markdown === 'function').map(({ url }) => url);
    this.#assets = assets;
    this.#live = new Set([...live.flatMap(url => [url, `${url}.md`]), '/llms-full.txt']);
    this.notFound = once(types.html, () => shell(site, notFoundPage).text);
    this.#pages = new Map([
      ...pages.map(({ url, title, content }, i) => {
        const around = { previous: pages[i - 1], next: pages[i + 1] };
        const text = (health: Health) =>
          shell(site, { url, title, content: () => content(health), ...around }).text;
        return [url, once(types.html, text)] as const;
      }),
      ...pages.map(({ url, markdown }) => [`${url}.md`, once(types.markdown, markdown)] as const),
      ['/llms.txt', once(types.text, () => summary(view, written, base))],
      ['/llms-full.txt', once(types.text, full)],
      [SEARCH_URL, once(types.json, () => JSON.stringify(searchEntries(view, written)))],
    ]);
  }

  has(path: string): boolean {
    return this.#pages.has(path);
  }

  /**
   * The page at a path, as HTML or as Markdown; `undefined` if there is none. Paths with `.md` are always Markdown. Reads the state
   * of the service only for pages that show it.
   */
  async page(
    path: string,
    format: 'html' | 'markdown',
    health: () => Promise<Health>,
  ): Promise<Content | undefined> {
    const markdown = format === 'markdown' ? this.#pages.get(`${path}.md`) : undefined;
    const page = markdown ?? this.#pages.get(path);
    return page?.(this.#live.has(path) ? await health() : working);
  }

  /** A file by its URL. */
  asset(url: string): Content | undefined {
    return this.#assets.at(url);
  }
}

function documentPage(document: Document, health: Health): Html {
  const { title, url } = document;
  const markdown = markdownOf(document, health);
  return html`<article class="document">
<h1>${title}</h1>
${url !== PORTAL_URL && onPage(headingsOf(markdown))}${rendered(markdown.slice(markdown.indexOf('\n')))}
${markdownTools(url)}</article>`;
}

/** The pages in the order of the navigation: the operations of a tag follow its overview. */
function readingOrder<P extends { url: string }>(view: ContractView, pages: readonly P[]): P[] {
  const byUrl = new Map(pages.map(page => [page.url, page]));
  const operationsAt = new Map(
    view.document.tags.map(({ name }) => [
      resourceUrl(name),
      view.withTag(name).map(({ id }) => operationUrl(id)),
    ]),
  );
  const urls = pages.flatMap(({ url }) => [url, ...(operationsAt.get(url) ?? [])]);
  return [...new Set(urls)].map(url => byUrl.get(url)!);
}

const notFoundPage: Page = {
  url: PORTAL_URL,
  title: 'Page not found',
  content: () => html`<article class="document"><h1>Page not found</h1>
<p>There is no page at this address. Look for it in the contents or with the search, or begin at the <a href="${PORTAL_URL}">start page</a>.</p></article>`,
};

/** Content that is made at the first call, and again when the state of the service has changed. */
function once(type: string, text: (health: Health) => string): (health?: Health) => Content {
  let content: Content | undefined;
  let state = '';
  return (health = working) => {
    const newState = JSON.stringify(health);
    if (content === undefined || newState !== state) {
      content = new Content(type, text(health));
      state = newState;
    }
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
