import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { Content } from '../kit/content.ts';

/** Where `web/console/build.mjs` puts the files. */
const built = join(import.meta.dirname, '../../../web/console/dist');

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};

/** The console as it was built: one page, and the files that it loads, by name. */
export interface ConsoleFiles {
  page: Content;
  assets: ReadonlyMap<string, Content>;
}

/**
 * Reads all files at once, so that the page and its files are of the same build, also when a later build replaces them.
 * Throws an Error if the console was not built.
 */
export async function readConsole(directory = built): Promise<ConsoleFiles> {
  const page = await readContent(join(directory, 'index.html')).catch(cause => {
    throw new Error(`The console is not built: run node web/console/build.mjs`, { cause });
  });
  const folder = join(directory, 'assets');
  const names = (await readdir(folder)).filter(name => extname(name) in types);
  const contents = await Promise.all(names.map(name => readContent(join(folder, name))));
  return { page, assets: new Map(names.map((name, i) => [name, contents[i]!])) };
}

/** The content of a file, with the compressed forms that the build made of it. */
async function readContent(path: string): Promise<Content> {
  const [text, br, gzip] = await Promise.all(['', '.br', '.gz'].map(form => readFile(path + form)));
  return new Content(types[extname(path)]!, text!, { br: br!, gzip: gzip! });
}
