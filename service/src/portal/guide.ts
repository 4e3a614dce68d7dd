import { readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import {
  CHANGELOG_URL,
  CLIENT_URL,
  COMMAND_URL,
  chapterUrl,
  GUIDE_URL,
  RUNNING_URL,
  runningUrl,
  slugOf,
} from './urls.ts';

const root = join(import.meta.dirname, '../../..');

const guideFile = 'docs/api-guide.md';
const operationsFile = 'docs/operations.md';

/** The documents of which each is one page, by their files. */
const pages = {
  'sdk/README.md': { title: 'Client for TypeScript', url: CLIENT_URL },
  'cli/README.md': { title: 'Command', url: COMMAND_URL },
  'docs/scaling.md': { title: 'Scaling', url: runningUrl('Scaling') },
  'docs/seals.md': { title: 'Seals of the event log', url: runningUrl('Seals of the event log') },
  'CHANGELOG.md': { title: 'Changelog', url: CHANGELOG_URL },
} as const;

interface Chapter {
  title: string;
  url: string;
  /** Without its heading. */
  markdown: string;
}

/** A document whose headings of the second level begin its chapters. */
export interface Manual {
  /** The text before the first chapter, without the table of contents. */
  introduction: string;
  chapters: readonly Chapter[];
}

export interface Guide extends Manual {
  /** The READMEs of the client and of the command. */
  readmes: readonly Chapter[];
  /** What an operator of the service needs. */
  running: Manual;
  changelog: Chapter;
}

/** The address of the service in the files, which is right after `npm start`. */
const WRITTEN_BASE = 'http://127.0.0.1:8080';

/** Links to headings and to files of the project. */
const links = /\[([^\]]+)\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g;

/** The page of a file or of one of its headings; `undefined` if no page shows the file. */
type Resolve = (file: string, heading: string | undefined) => string | undefined;

/**
 * Reads the documents that the portal shows. `base` is the URL of the service in their samples. Links lead to pages of the portal;
 * those to files that the service does not serve become plain text.
 */
export async function readGuide(base: string): Promise<Guide> {
  const read = (file: string) => readFile(join(root, file), 'utf8');
  const guide = await read(guideFile);
  const operations = await read(operationsFile);
  const manuals: Readonly<Record<string, ReadonlyMap<string | undefined, string>>> = {
    [guideFile]: headingUrls(guide, GUIDE_URL, chapterUrl),
    [operationsFile]: headingUrls(operations, RUNNING_URL, runningUrl),
  };
  const served: Readonly<Record<string, string>> = {
    'openapi.yaml': '/openapi.yaml',
    ...Object.fromEntries(Object.entries(pages).map(([file, { url }]) => [file, url])),
  };
  const resolve: Resolve = (file, heading) => {
    const url = served[file];
    if (url === undefined) return manuals[file]?.get(heading);
    return heading === undefined ? url : `${url}#${heading}`;
  };
  const pageOf = async (file: keyof typeof pages) => {
    const markdown = linked(await read(file), file, base, resolve);
    return { ...pages[file], markdown: markdown.replace(/^# .*\n/, '').trim() };
  };
  const running = manualOf(linked(operations, operationsFile, base, resolve), runningUrl);
  return {
    ...manualOf(linked(guide, guideFile, base, resolve), chapterUrl),
    readmes: [await pageOf('sdk/README.md'), await pageOf('cli/README.md')],
    running: {
      ...running,
      chapters: [...running.chapters, await pageOf('docs/scaling.md'), await pageOf('docs/seals.md')],
    },
    changelog: await pageOf('CHANGELOG.md'),
  };
}

function manualOf(text: string, urlOf: (title: string) => string): Manual {
  const [introduction = '', ...chapters] = text.split(/^## (?=.+$)/m);
  return {
    introduction: introduction
      .split('\n\n')
      .filter(paragraph => !/^(# |\[[^\]]+\]\([^)]+\) ·)/.test(paragraph))
      .join('\n\n')
      .trim(),
    chapters: chapters.map(chapter => {
      const [title = ''] = chapter.split('\n', 1);
      // A chapter is a page, whose title is its first heading.
      const markdown = chapter
        .slice(title.length)
        .trim()
        .replace(/^###(?= )/gm, '##');
      return { title, url: urlOf(title), markdown };
    }),
  };
}

/** The page of a manual, and the page and anchor of each heading by the anchor that it has in the file. */
function headingUrls(
  text: string,
  url: string,
  urlOf: (title: string) => string,
): Map<string | undefined, string> {
  const urls = new Map<string | undefined, string>([[undefined, url]]);
  let chapter = '';
  for (const [, level, heading = ''] of text.matchAll(/^(##|###) (.+)$/gm)) {
    if (level === '##') chapter = urlOf(heading);
    const anchor = slugOf(heading);
    urls.set(anchor, level === '##' ? chapter : `${chapter}#${anchor}`);
  }
  return urls;
}

/** The text of a file, whose links lead to pages. The comments of the tool that writes tables are left out. */
function linked(text: string, file: string, base: string, resolve: Resolve): string {
  return text
    .replaceAll(/^<!--.*-->\n+/gm, '')
    .replaceAll(WRITTEN_BASE, base)
    .replace(links, (_, name: string, path: string, heading?: string) => {
      const url = resolve(path === '' ? file : posix.join(posix.dirname(file), path), heading);
      return url === undefined ? name : `[${name}](${url})`;
    });
}
