import { setImmediate as nextTurn } from 'node:timers/promises';
import { Content } from '../kit/content.ts';
import { html } from '../kit/html.ts';
import type { Assets } from './assets.ts';
import type { ContractView } from './contract.ts';
import { type Document, documentsOf } from './documents.ts';
import { readGuide } from './guide.ts';
import { rendered } from './markdown.ts';
import { operationLine, operationMarkdown } from './operation-markdown.ts';
import { operationPage } from './operation-page.ts';
import { searchEntries } from './search-entries.ts';
import { markdownTools, type Page, type Site, shell } from './shell.ts';
import { operationUrl, PORTAL_URL, SEARCH_URL } from './urls.ts';

const types = {
  html: 'text/html; charset=utf-8',
  markdown: 'text/markdown; charset=utf-8',
  text: 'text/plain; charset=utf-8',
  json: 'application/json; charset=utf-8',
};

/** The developer portal. Each page is rendered at the first request for it, and then stays in memory. */
export class Portal {
  readonly #site: Site;
  readonly #documents: ReadonlyMap<string, Document>;
  readonly #assets: Assets;
  readonly #contents = new Map<string, Promise<Content | undefined>>();
  #notFound: Content | undefined;

  private constructor(site: Site, assets: Assets) {
    this.#site = site;
    this.#assets = assets;
    this.#documents = new Map(documentsOf(site.view, site.guide).map(document => [document.url, document]));
  }

  /** `base` is the URL of the service in samples, without a slash at its end. */
  static async open(
    view: ContractView,
    { base, isDemo }: Pick<Site, 'base' | 'isDemo'>,
    assets: Assets,
  ): Promise<Portal> {
    const files = {
      stylesheet: await assets.url('portal.css'),
      head: await assets.url('head.js'),
      page: await assets.url('page.js'),
      modules: await assets.importsOf('page.js'),
    };
    const site = { view, guide: await readGuide(base), base, isDemo, files };
    await nextTurn();
    return new Portal(site, assets);
  }

  /** The page at a path, as HTML or as Markdown; `undefined` if there is none. Paths with `.md` are always Markdown. */
  page(path: string, format: 'html' | 'markdown'): Promise<Content | undefined> {
    const url = path.replace(/\.md$/, '');
    return this.#content(url, url === path ? format : 'markdown');
  }

  /** What browsers show at an address without a page, with the whole navigation. */
  get notFound(): Content {
    this.#notFound ??= this.#notFoundPage();
    return this.#notFound;
  }

  #notFoundPage(): Content {
    const content = html`<article class="document"><h1>Page not found</h1>
<p>There is no page at this address. Look for it in the contents or with the search, or begin at the <a href="${PORTAL_URL}">start page</a>.</p></article>`;
    return this.#html({ url: PORTAL_URL, title: 'Page not found', content });
  }

  /** A file by its name in URLs. */
  asset(fileName: string): Promise<Content | undefined> {
    return this.#assets.find(fileName);
  }

  #content(url: string, format: 'html' | 'markdown'): Promise<Content | undefined> {
    const key = `${format} ${url}`;
    let content = this.#contents.get(key);
    if (!content) {
      content = this.#rendered(url, format);
      // Paths without a page are not stored: clients choose them.
      if (this.#exists(url)) this.#contents.set(key, content);
    }
    return content;
  }

  #exists(url: string): boolean {
    return this.#documents.has(url) || this.#operation(url) !== undefined || url in this.#texts;
  }

  async #rendered(url: string, format: 'html' | 'markdown'): Promise<Content | undefined> {
    const text = this.#texts[url];
    if (text) return text();
    const { view, base } = this.#site;
    const operation = this.#operation(url);
    const document = this.#documents.get(url);
    if (format === 'markdown') {
      const markdown = operation ? operationMarkdown(view, operation, base) : document?.markdown;
      return markdown === undefined ? undefined : new Content(types.markdown, markdown);
    }
    if (operation) return this.#html(operationPage(this.#site, operation));
    if (!document) return undefined;
    const { title, markdown } = document;
    const content = html`<article class="document">${rendered(markdown)}
${markdownTools(url)}</article>`;
    return this.#html({ url, title, content });
  }

  #html(page: Page): Content {
    return new Content(types.html, shell(this.#site, page).text);
  }

  #operation(url: string) {
    return this.#site.view.operations.find(({ id }) => operationUrl(id) === url);
  }

  /** The pages for programs. */
  readonly #texts: Record<string, () => Content> = {
    '/llms.txt': () => new Content(types.text, this.#summary()),
    '/llms-full.txt': () => {
      const { view, base } = this.#site;
      const operations = view.operations.map(operation => operationMarkdown(view, operation, base));
      const documents = [...this.#documents.values()].map(({ markdown }) => markdown);
      return new Content(types.text, [...documents, ...operations].join('\n\n'));
    },
    [SEARCH_URL]: () => {
      const entries = searchEntries(this.#site.view, [...this.#documents.values()]);
      return new Content(types.json, JSON.stringify(entries));
    },
  };

  /** The table of contents for language models, as https://llmstxt.org describes it. */
  #summary(): string {
    const { view } = this.#site;
    const { info } = view.document;
    const pages = [...this.#documents.values()].map(({ url, title }) => `- [${title}](${url}.md)`);
    const operations = view.operations.map(operation =>
      operationLine(operation).replace(/\]\(([^)]+)\)/, ']($1.md)'),
    );
    return `# ${info.title}

> ${info.description.split('\n', 1)[0]}

Everything on one page: [llms-full.txt](/llms-full.txt). The contract: [openapi.yaml](/openapi.yaml).

## Documents

${pages.join('\n')}

## Operations

${operations.join('\n')}
`;
  }
}
