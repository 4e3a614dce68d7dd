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

/** Reads the guide, whose headings of the second level begin its chapters. */
export async function readGuide(): Promise<Guide> {
  const [introduction = '', ...chapters] = (await readFile(GUIDE_FILE, 'utf8')).split(/^## (?=.+$)/m);
  return {
    introduction: introduction
      .split('\n\n')
      .filter(paragraph => !/^(# |\[[^\]]+\]\(#[\w-]+\) ·)/.test(paragraph))
      .join('\n\n')
      .trim(),
    chapters: chapters.map(text => {
      const [title = ''] = text.split('\n', 1);
      return { title, url: chapterUrl(title), markdown: text.slice(title.length).trim() };
    }),
  };
}
