import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { Content } from '../kit/content.ts';
import { codeOf } from '../kit/thrown.ts';

/** Where `web/console/build.mjs` puts the files. */
const built = join(import.meta.dirname, '../../../web/console/dist');

const PAGE = 'index.html';

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** The console as it was built: one page, and the files that it loads, by name. */
export interface ConsoleFiles {
  page: Content;
  assets: ReadonlyMap<string, Content>;
}

/** Builds the console and the packages, in the directory of the project. */
export const BUILD_COMMAND = 'node_modules/.bin/node scripts/build.mjs';

export function isConsoleBuilt(): boolean {
  return existsSync(join(built, PAGE));
}

/**
 * Reads all files at once, so that the page and its files are of the same build, also when a later build replaces them.
 * Returns `undefined` if the console was not built.
 */
export async function readConsole(): Promise<ConsoleFiles | undefined> {
  const page = await readContent(join(built, PAGE)).catch(unlessMissing);
  if (!page) return undefined;
  const folder = join(built, 'assets');
  const names = (await readdir(folder)).filter(name => extname(name) in types);
  const contents = await Promise.all(names.map(name => readContent(join(folder, name))));
  return { page, assets: new Map(names.map((name, i) => [name, contents[i]!])) };
}

/** Throws an error again, except that a file does not exist. */
function unlessMissing(error: unknown): undefined {
  if (codeOf(error) !== 'ENOENT') throw error;
}

/** The content of a file, with the compressed forms that the build made of it unless it is a font. */
async function readContent(path: string): Promise<Content> {
  const type = types[extname(path)]!;
  if (type === 'font/woff2') return new Content(type, await readFile(path));
  const [text, br, gzip] = await Promise.all(['', '.br', '.gz'].map(form => readFile(path + form)));
  return new Content(type, text!, { br: br!, gzip: gzip! });
}
