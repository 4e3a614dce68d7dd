import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { chapterUrl } from './urls.ts';

const GUIDE_FILE = join(import.meta.dirname, '../../../docs/api-guide.md');

export interface Chapter {
  title: string;
  url: string;
  /** Without its heading. */
  markdown: string;
}

export interface Guide {
  /** The text before the first chapter, without the table of contents. */
  introduction: string;
  chapters: readonly Chapter[];
}

/** The address of the service in the file, which is right after `npm start`. */
const WRITTEN_BASE = 'http://127.0.0.1:8080';

/** Links to chapters and to files of the project. */
const links = /\[([^\]]+)\]\((?!https?:)(#?)([^)]+)\)/g;

/**
 * Reads the guide, whose headings of the second level begin its chapters. `base` is the URL of the service in its samples. Links
 * lead to pages of the portal; those to files that the service does not serve become plain text.
 */
export async function readGuide(base: string): Promise<Guide> {
  const text = (await readFile(GUIDE_FILE, 'utf8'))
    .replaceAll(WRITTEN_BASE, base)
    .replace(links, (_, name, kind, target) => {
      if (kind === '#') return `[${name}](${chapterUrl(target)})`;
      return target === '../openapi.yaml' ? `[${name}](/openapi.yaml)` : name;
    });
  const [introduction = '', ...chapters] = text.split(/^## (?=.+$)/m);
  return {
    introduction: introduction
      .split('\n\n')
      .filter(paragraph => !/^(# |\[[^\]]+\]\([^)]+\) ·)/.test(paragraph))
      .join('\n\n')
      .trim(),
    chapters: chapters.map(chapter => {
      const [title = ''] = chapter.split('\n', 1);
      return { title, url: chapterUrl(title), markdown: chapter.slice(title.length).trim() };
    }),
  };
}
