import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { grammarNames } from '../../../web/portal/highlight.js';
import { Content } from '../kit/content.ts';
import { ASSETS_URL } from './urls.ts';

const web = join(import.meta.dirname, '../../../web');

/** Resolves packages from the workspace `web`, whose dependencies browsers load. */
const fromWeb = createRequire(join(web, 'package.json'));

const ownFiles = [
  'head.js',
  'page.js',
  'portal.css',
  'highlight.js',
  'key.js',
  'live-response.js',
  'request.js',
  'samples.js',
  'search.js',
  'try-it.js',
];

interface Library {
  /** The name in URLs. */
  name: string;
  path(): string;
}

/** The libraries that browsers load, by the names with which modules import them. None imports anything. */
const libraries: Record<string, Library> = {
  // Node.js resolves the name to the CommonJS version next to it.
  minisearch: { name: 'minisearch.js', path: () => join(fromWeb.resolve('minisearch'), '../../es/index.js') },
  ...Object.fromEntries(
    ['core', ...grammarNames.map(language => `languages/${language}`)].map(part => {
      const specifier = `@highlightjs/cdn-assets/es/${part}.min.js`;
      const name = `highlight-${part.replace('languages/', '')}.js`;
      return [specifier, { name, path: () => fromWeb.resolve(specifier) }];
    }),
  ),
};

/** The files that pages may refer to, and functions that return their paths. */
const files: Record<string, () => string> = {
  ...Object.fromEntries(ownFiles.map(name => [name, () => join(web, 'portal', name)])),
  ...Object.fromEntries(Object.values(libraries).map(({ name, path }) => [name, path])),
};

const types: Record<string, string> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
};

/** The comment that would make browsers request a source map, which is not served. */
const sourceMapComment = /\n?\/[/*][#@] sourceMappingURL=\S+(?: \*\/)?\s*$/;

/** The maximum number of characters of a source map comment. */
const COMMENT_LENGTH = 200;

/** `import 'x'`, `import x from 'x'` and `await import('x')`, but not the imports in strings and comments. */
const imports = /^(import (?:[^']* from )?|.*\bawait import\()'([^']+)'/gm;

interface Asset {
  /** The name in URLs: `portal.3f9a….css`. The content behind a name never changes, so it may be cached forever. */
  fileName: string;
  content: Content;
  /** The modules that it imports, directly or indirectly, except those that it loads when they are used. */
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
    // Libraries import nothing.
    const found = ownFiles.includes(name) ? [...text.matchAll(imports)] : [];
    const assets = new Map(
      await Promise.all(
        found.map(async ([, , specifier = '']) => [specifier, await this.#asset(nameOf(specifier))] as const),
      ),
    );
    // Modules also import each other by names with hashes.
    const linked =
      assets.size === 0
        ? text
        : text.replace(imports, (_, before, specifier) => `${before}'./${assets.get(specifier)?.fileName}'`);
    const direct = found
      .filter(([, before]) => before?.startsWith('import '))
      .map(([, , specifier = '']) => specifier);
    const dot = name.lastIndexOf('.');
    const content = new Content(types[name.slice(dot + 1)]!, linked);
    return {
      fileName: `${name.slice(0, dot)}.${content.hash}${name.slice(dot)}`,
      content,
      imports: [
        ...new Set(direct.flatMap(specifier => [nameOf(specifier), ...assets.get(specifier)!.imports])),
      ],
    };
  }
}

/** The name of the file that a module imports. */
function nameOf(specifier: string): string {
  return libraries[specifier]?.name ?? specifier.replace(/^\.\//, '');
}

function withoutSourceMap(text: string): string {
  const end = Math.max(0, text.length - COMMENT_LENGTH);
  return text.slice(0, end) + text.slice(end).replace(sourceMapComment, '\n');
}
