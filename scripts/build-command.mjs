// Builds the client, the rules of files with pets, and the command, unless they are newer than their sources. Runs on Node.js 20.19 or newer.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { filesAt, isOutdated, replace } from './outdated.mjs';
import { bundleTestService, testServiceSources } from './test-service.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** A file that each workspace builds. */
export const results = { sdk: 'index.js', 'pet-files': 'index.js', cli: 'main.js' };

for (const [name, result] of Object.entries(results)) {
  const workspace = join(root, name);
  const built = join(workspace, 'dist');
  const sources = join(workspace, 'src');
  const further = name === 'sdk' ? [...testServiceSources, join(root, 'scripts/test-service.mjs')] : [];
  if (!isOutdated(join(built, result), [sources, ...further, fileURLToPath(import.meta.url)])) continue;
  const { transformSync } = await import('rolldown/utils');
  const unfinished = `${built}.${process.pid}`;
  try {
    for (const file of filesAt(sources)) compile(file, join(unfinished, relative(sources, file)));
    if (name === 'sdk') await bundleTestService(unfinished);
    replace(built, unfinished);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }

  /** Writes the module of a source with its map, and for users of the client its types. `npm run check` checks types. */
  function compile(file, target) {
    const path = target.replace(/\.ts$/, '');
    const { code, map, declaration, errors } = transformSync(file, readFileSync(file, 'utf8'), {
      target: 'es2022',
      tsconfig: false,
      sourcemap: true,
      typescript: {
        rewriteImportExtensions: 'rewrite',
        onlyRemoveTypeImports: true,
        ...(name === 'sdk' && { declaration: { stripInternal: true } }),
      },
    });
    if (errors.length > 0) throw new Error(`${file}: ${errors.map(({ message }) => message).join('\n')}`);
    mkdirSync(dirname(path), { recursive: true });
    // The map contains the source, which the package does not.
    writeFileSync(`${path}.js.map`, JSON.stringify({ ...map, sources: [basename(file)] }));
    writeFileSync(`${path}.js`, `${code}//# sourceMappingURL=${basename(path)}.js.map\n`);
    if (declaration !== undefined)
      writeFileSync(`${path}.d.ts`, declaration.replaceAll(/(from ")(\.[^"]*)\.ts"/g, '$1$2.js"'));
  }
}
