import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Content } from '../kit/content.ts';
import { ASSETS_URL } from './urls.ts';

const web = join(import.meta.dirname, '../../../web');

/** Resolves packages from the workspace `web`, which has the viewer as a dependency. */
const fromWeb = createRequire(join(web, 'package.json'));

/** The viewer, which imports nothing. Searching its 1.4 MB for imports would block the event loop. */
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

/** The files that pages may refer to, and functions that return their paths. */
const files: Record<string, () => string> = {
  ...Object.fromEntries(ownFiles.map(name => [name, () => join(web, 'portal', name)])),
  [VIEWER]: () => fromWeb.resolve('swagger-ui-dist/swagger-ui-bundle.js'),
};

const types: Record<string, string> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
};

/** The comment that would make browsers request a source map, which is not served. */
const sourceMapComment = /\n?\/[/*][#@] sourceMappingURL=\S+(?: \*\/)?\s*$/;

/** The maximum number of characters of a source map comment. */
const COMMENT_LENGTH = 200;

const relativeImport = /(\bfrom '|\bimport ')\.\/([\w-]+\.js)'/g;

interface Asset {
  /** The name in URLs: `portal.3f9a….css`. The content behind a name never changes, so it may be cached forever. */
  fileName: string;
  content: Content;
  /** The modules that it imports, directly or indirectly. */
  imports: readonly string[];
}

/** The portal's files. Each is read at the first request for it, and then stays in memory. */
export class Assets {
  readonly #assets = new Map<string, Promise<Asset>>();

  /** The URL of a file, which changes with its content. */
  async url(name: string): Promise<string> {
    return `${ASSETS_URL}/${(await this.#asset(name)).fileName}`;
  }

  /** The URLs of the modules that a module imports, directly or indirectly. */
  async importsOf(name: string): Promise<string[]> {
    const { imports } = await this.#asset(name);
    return Promise.all(imports.map(imported => this.url(imported)));
  }

  /** The content of a file name from `url`; `undefined` if no such file exists, or not with this content. */
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
      // A file that could not be read is read again at the next request.
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
    // Modules also import each other by names with hashes.
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
