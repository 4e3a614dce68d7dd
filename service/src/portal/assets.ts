import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Content } from './content.ts';
import { ASSETS_URL } from './urls.ts';

const web = join(import.meta.dirname, '../../../web');

/** The viewer library is a dependency of the workspace `web`, and is found from there. */
const fromWeb = createRequire(join(web, 'package.json'));

/** The viewer, which imports nothing. Searching its 1.4 MB as our modules are searched would block the event loop. */
const VIEWER = 'swagger-ui-bundle.js';

const ownFiles = [
  'theme.js',
  'portal.css',
  'reference.js',
  'accessible.js',
  'api-key.js',
  'contract.js',
  'navigation.js',
  'operation.js',
  'operation-list.js',
  'plugin.js',
  'responses.js',
  'samples.js',
  'shape.js',
];

/** The files that pages may refer to, and where they are read from. */
const files: Record<string, () => string> = {
  ...Object.fromEntries(ownFiles.map(name => [name, () => join(web, 'portal', name)])),
  [VIEWER]: () => fromWeb.resolve('swagger-ui-dist/swagger-ui-bundle.js'),
};

const types: Record<string, string> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
};

/** The comment that would have browsers ask for a source map, which is not served. */
const sourceMapComment = /\n?\/[/*][#@] sourceMappingURL=\S+(?: \*\/)?\s*$/;

/** The most characters of such a comment. */
const COMMENT_LENGTH = 200;

const relativeImport = /(\bfrom '|\bimport ')\.\/([\w-]+\.js)'/g;

interface Asset {
  /** Its name in URLs: `portal.3f9a….css`. What it is the name of never changes, so it may be kept for ever. */
  fileName: string;
  content: Content;
  /** The modules that it imports, directly or not. */
  imports: readonly string[];
}

/** The portal's files. Each is read when it is first asked for, and stays in memory from then on. */
export class Assets {
  readonly #assets = new Map<string, Promise<Asset>>();

  /** The URL of a file, which changes with its content. */
  async url(name: string): Promise<string> {
    return `${ASSETS_URL}/${(await this.#asset(name)).fileName}`;
  }

  /** The URLs of the modules that a module imports, directly or not. */
  async importsOf(name: string): Promise<string[]> {
    const { imports } = await this.#asset(name);
    return Promise.all(imports.map(imported => this.url(imported)));
  }

  /** What a URL of `url` stands for; `undefined` where there is no such file, or not with this content. */
  async find(fileName: string): Promise<Content | undefined> {
    const [, stem, hash, extension] = /^([\w-]+)\.([0-9a-f]+)\.(\w+)$/.exec(fileName) ?? [];
    if (hash === undefined || !Object.hasOwn(files, `${stem}.${extension}`)) return undefined;
    const asset = await this.#asset(`${stem}.${extension}`);
    return asset.fileName === fileName ? asset.content : undefined;
  }

  #asset(name: string): Promise<Asset> {
    let asset = this.#assets.get(name);
    if (!asset) {
      asset = this.#read(name);
      this.#assets.set(name, asset);
      // What could not be read is tried anew the next time.
      asset.catch(() => this.#assets.delete(name));
    }
    return asset;
  }

  async #read(name: string): Promise<Asset> {
    const text = withoutSourceMap(await readFile(files[name]!(), 'utf8'));
    const direct = name === VIEWER ? [] : [...text.matchAll(relativeImport)].map(([, , file = '']) => file);
    const assets = new Map(
      await Promise.all(direct.map(async file => [file, await this.#asset(file)] as const)),
    );
    // Modules import each other by names that carry hashes, too.
    const linked =
      direct.length === 0
        ? text
        : text.replace(relativeImport, (_, before, file) => `${before}./${assets.get(file)?.fileName}'`);
    const dot = name.lastIndexOf('.');
    const content = new Content(types[name.slice(dot + 1)]!, linked);
    return {
      fileName: `${name.slice(0, dot)}.${content.hash}${name.slice(dot)}`,
      content,
      imports: [...new Set([...direct, ...[...assets.values()].flatMap(asset => asset.imports)])],
    };
  }
}

function withoutSourceMap(text: string): string {
  const end = Math.max(0, text.length - COMMENT_LENGTH);
  return text.slice(0, end) + text.slice(end).replace(sourceMapComment, '\n');
}
