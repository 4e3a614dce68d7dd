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

/** Reads the guide, whose headings of the second level begin its chapters. `base` is the URL of the service in its samples. */
export async function readGuide(base: string): Promise<Guide> {
  const text = (await readFile(GUIDE_FILE, 'utf8')).replaceAll(WRITTEN_BASE, base);
  const [introduction = '', ...chapters] = text.split(/^## (?=.+$)/m);
  return {
    introduction: introduction
      .split('\n\n')
      .filter(paragraph => !/^(# |\[[^\]]+\]\(#[\w-]+\) ·)/.test(paragraph))
      .join('\n\n')
      .trim(),
    chapters: chapters.map(chapter => {
      const [title = ''] = chapter.split('\n', 1);
      return { title, url: chapterUrl(title), markdown: chapter.slice(title.length).trim() };
    }),
  };
}
