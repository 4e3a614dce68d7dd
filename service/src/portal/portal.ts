import type { Contract } from '../../../web/portal/types.d.ts';
import { Content } from '../kit/content.ts';
import { Assets } from './assets.ts';
import { guidePage } from './guide.ts';
import { referencePage } from './reference.ts';

const pages = { reference: referencePage, guide: guidePage };

export type PageName = keyof typeof pages;

/** The developer portal: its pages and files, each made at the first request for it. */
export class Portal {
  readonly #document: Contract;
  readonly #assets = new Assets();
  readonly #pages = new Map<PageName, Content>();

  constructor(document: Contract) {
    this.#document = document;
  }

  async page(name: PageName): Promise<Content> {
    let content = this.#pages.get(name);
    if (!content) {
      const { text } = await pages[name](this.#document, this.#assets);
      content = new Content('text/html; charset=utf-8', text);
      this.#pages.set(name, content);
    }
    return content;
  }

  /** A file by its name in URLs. */
  asset(fileName: string): Promise<Content | undefined> {
    return this.#assets.find(fileName);
  }
}
