import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, parse } from 'node:path';
import { Content } from '../kit/content.ts';
import { ASSETS_URL } from './urls.ts';

const web = join(import.meta.dirname, '../../../web');

/** Resolves packages from the workspace `web`, whose dependencies browsers load. */
const fromWeb = createRequire(join(web, 'package.json'));

const types: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** The comment that would make browsers request a source map, which is not served. */
const sourceMapComment = /\n?\/[/*][#@] sourceMappingURL=\S+(?: \*\/)?\s*$/;

/**
 * `import 'x'`, `import x from 'x'` and `await import('x')`, but not the imports in strings and comments; in stylesheets
 * `src: url("x")`.
 */
const imports = /^(import (?:[^']* from )?|.*\bawait import\(| *src: url\()['"]([^'"]+)['"]/gm;

export interface Asset {
  /** It contains the hash of the content, as in `portal.3f9a….css`. So browsers may cache the content forever. */
  url: string;
  /** The URLs of the modules or fonts that it imports, directly or indirectly, except those that it loads when they are used. */
  imports: readonly string[];
}

/** The portal's files and the libraries that they import. They stay in memory. */
export class Assets {
  readonly #contents = new Map<string, Content>();
  readonly #assets = new Map<string, Promise<Asset>>();

  /** Reads a file with everything that it imports. `specifier` is the name by which modules import it. */
  open(specifier: string): Promise<Asset> {
    let asset = this.#assets.get(specifier);
    if (!asset) {
      asset = this.#read(specifier);
      this.#assets.set(specifier, asset);
    }
    return asset;
  }

  /** The content at a URL; `undefined` if no such file was read, or not with this content. */
  at(url: string): Content | undefined {
    return this.#contents.get(url);
  }

  async #read(specifier: string): Promise<Asset> {
    const bytes = await readFile(pathOf(specifier));
    if (specifier.endsWith('.woff2')) return this.#add(specifier, bytes, []);
    const text = bytes.toString().replace(sourceMapComment, '\n');
    const urls = new Map<string, string>();
    const needed = new Set<string>();
    for (const [, before, imported = ''] of text.matchAll(imports)) {
      const asset = await this.open(imported);
      urls.set(imported, asset.url);
      if (!before?.includes('await ')) for (const url of [asset.url, ...asset.imports]) needed.add(url);
    }
    // Files also import each other by names with hashes.
    const linked = text.replace(
      imports,
      (_, before, imported) => `${before}'${urls.get(imported)?.replace(ASSETS_URL, '.')}'`,
    );
    return this.#add(specifier, linked, [...needed]);
  }

  #add(specifier: string, bytes: string | Buffer, imports: readonly string[]): Asset {
    // `@highlightjs/cdn-assets/es/core.min.js` becomes `core.js`, and `minisearch` becomes `minisearch.js`.
    const { name, ext } = parse(specifier.replace('.min.', '.'));
    const extension = ext || '.js';
    const content = new Content(types[extension]!, bytes);
    const url = `${ASSETS_URL}/${name}.${content.hash}${extension}`;
    this.#contents.set(url, content);
    return { url, imports };
  }
}

function pathOf(specifier: string): string {
  if (specifier.startsWith('.')) return join(web, 'portal', specifier);
  const path = fromWeb.resolve(specifier);
  // Node.js resolves the name to the CommonJS version next to it.
  return specifier === 'minisearch' ? join(path, '../../es/index.js') : path;
}
