import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CHANGELOG_URL, CLIENT_URL, COMMAND_URL, chapterUrl, GUIDE_URL, slugOf } from './urls.ts';

const root = join(import.meta.dirname, '../../..');

/** The pages of the READMEs of the packages, by their files. */
const readmes = {
  'sdk/README.md': { title: 'Client for TypeScript', url: CLIENT_URL },
  'cli/README.md': { title: 'Command', url: COMMAND_URL },
} as const;

const guideFile = 'docs/api-guide.md';
const changelogFile = 'CHANGELOG.md';

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
  changelog: Chapter;
}

/** The address of the service in the file, which is right after `npm start`. */
const WRITTEN_BASE = 'http://127.0.0.1:8080';

/** Where links of the guide and the READMEs lead, without the dots at their start. */
const served: Readonly<Record<string, string>> = {
  'openapi.yaml': '/openapi.yaml',
  'sdk/README.md': CLIENT_URL,
  'cli/README.md': COMMAND_URL,
  [changelogFile]: CHANGELOG_URL,
};

/** Links to chapters and to files of the project. */
const links = /\[([^\]]+)\]\((?!https?:)(#?)([^)]+)\)/g;

/**
 * Reads the guide, whose headings of the second level begin its chapters. `base` is the URL of the service in its samples. Links
 * lead to pages of the portal; those to files that the service does not serve become plain text.
 */
export async function readGuide(base: string): Promise<Guide> {
  const raw = await readFile(join(root, guideFile), 'utf8');
  const urls = headingUrls(raw);
  const inGuide = (heading: string) => urls.get(heading) ?? chapterUrl(heading);
  const text = linked(raw, base, inGuide, inGuide);
  const pageOf = async (file: string, page: { title: string; url: string }) => {
    const content = await readFile(join(root, file), 'utf8');
    const markdown = linked(content, base, heading => `${page.url}#${heading}`, inGuide);
    return { ...page, markdown: markdown.replace(/^# .*\n/, '').trim() };
  };
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
      return { title, url: chapterUrl(title), markdown };
    }),
    readmes: await Promise.all(Object.entries(readmes).map(([file, page]) => pageOf(file, page))),
    changelog: await pageOf(changelogFile, { title: 'Changelog', url: CHANGELOG_URL }),
  };
}

/** The page and the anchor of each heading of the guide, by the anchor that it has in the file. */
function headingUrls(text: string): Map<string, string> {
  const urls = new Map<string, string>();
  let chapter = '';
  for (const [, level, heading = ''] of text.matchAll(/^(##|###) (.+)$/gm)) {
    if (level === '##') chapter = chapterUrl(heading);
    const anchor = slugOf(heading);
    urls.set(anchor, level === '##' ? chapter : `${chapter}#${anchor}`);
  }
  return urls;
}

/** A text whose links lead to pages. `linkTo` returns where a link to a heading of the same file leads. */
function linked(
  text: string,
  base: string,
  linkTo: (heading: string) => string,
  inGuide: (heading: string) => string,
): string {
  return text.replaceAll(WRITTEN_BASE, base).replace(links, (_, name, kind, target) => {
    if (kind === '#') return `[${name}](${linkTo(target)})`;
    const [path, heading] = target.replace(/^(\.\.\/)+/, '').split('#');
    if (path === guideFile) return `[${name}](${heading === undefined ? GUIDE_URL : inGuide(heading)})`;
    const url = served[path];
    return url === undefined ? name : `[${name}](${url}${heading === undefined ? '' : `#${heading}`})`;
  });
}
