import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CLIENT_URL, COMMAND_URL, chapterUrl } from './urls.ts';

const root = join(import.meta.dirname, '../../..');

/** The pages of the READMEs of the packages, by their files. */
const readmes = {
  'sdk/README.md': { title: 'Client for TypeScript', url: CLIENT_URL },
  'cli/README.md': { title: 'Command', url: COMMAND_URL },
} as const;

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
  /** The READMEs of the client and of the command. */
  readmes: readonly Chapter[];
}

/** The address of the service in the file, which is right after `npm start`. */
const WRITTEN_BASE = 'http://127.0.0.1:8080';

/** Links to chapters and to files of the project. */
/** Where links of the guide and the READMEs lead, without the dots at their start. */
const served: Readonly<Record<string, string>> = {
  'openapi.yaml': '/openapi.yaml',
  'sdk/README.md': CLIENT_URL,
  'cli/README.md': COMMAND_URL,
};

const links = /\[([^\]]+)\]\((?!https?:)(#?)([^)]+)\)/g;

/**
 * Reads the guide, whose headings of the second level begin its chapters. `base` is the URL of the service in its samples. Links
 * lead to pages of the portal; those to files that the service does not serve become plain text.
 */
export async function readGuide(base: string): Promise<Guide> {
  const text = await read('docs/api-guide.md', base, chapterUrl);
  const pages = Object.entries(readmes).map(async ([file, page]) => {
    const markdown = await read(file, base, heading => `${page.url}#${heading}`);
    return { ...page, markdown: markdown.replace(/^# .*\n/, '').trim() };
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
    readmes: await Promise.all(pages),
  };
}

/** Reads a file. `linkTo` returns where a link to a heading of the file leads. */
async function read(file: string, base: string, linkTo: (heading: string) => string): Promise<string> {
  const text = (await readFile(join(root, file), 'utf8')).replaceAll(WRITTEN_BASE, base);
  return text.replace(links, (_, name, kind, target) => {
    if (kind === '#') return `[${name}](${linkTo(target)})`;
    const url = served[target.replace(/^(\.\.\/)+/, '')];
    return url === undefined ? name : `[${name}](${url})`;
  });
}
