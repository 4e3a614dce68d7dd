// Bundles `@petstore/client/testing`, which has rules of the service itself. Runs on Node.js 20.19 or newer.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** What the bundle is made from. */
export const testServiceSources = [
  'sdk/src/defined.ts',
  'sdk/src/resources/lists.ts',
  'sdk/testing',
  'service/src/access/key-warnings/quota-rule.ts',
  'service/src/access/plans/plan.ts',
  'service/src/catalog/pets/stock.ts',
  'service/src/contract',
  'service/src/counters/decide.ts',
  'service/src/counters/decide-visit.ts',
  'service/src/counters/windows.ts',
  'service/src/http/gate/rate-limit-errors.ts',
  'service/src/http/should-retry.ts',
  'service/src/kit',
  'service/src/routes/conditional.ts',
].map(path => join(root, path));

/** Writes the module with its map and its types into a directory with the built client. */
export async function bundleTestService(directory) {
  const entry = join(root, 'sdk/testing/index.ts');
  const [{ rolldown }, { transformSync }] = await Promise.all([import('rolldown'), import('rolldown/utils')]);
  const bundle = await rolldown({
    input: entry,
    platform: 'neutral',
    tsconfig: false,
    // A module of which nothing is used has no effect here.
    treeshake: { moduleSideEffects: false },
    onLog: (_, { code, message }) => {
      if (code !== 'UNRESOLVED_IMPORT') throw new Error(message);
    },
  });
  const { output } = await bundle.generate({ format: 'esm', sourcemap: true });
  await bundle.close();
  const [{ code, map, modules }] = output;
  const [imported] = /^import .*/m.exec(code) ?? [];
  if (imported !== undefined) throw new Error(`The test service must run in every runtime: ${imported}`);
  for (const [file, { renderedLength }] of Object.entries(modules)) {
    const isKnown = testServiceSources.some(source => file === source || file.startsWith(source + sep));
    if (renderedLength > 0 && !isKnown)
      throw new Error(`The test service has a source that is not listed: ${relative(root, file)}`);
  }
  writeFileSync(join(directory, 'testing.js.map'), JSON.stringify(map));
  writeFileSync(join(directory, 'testing.js'), `${code}//# sourceMappingURL=testing.js.map\n`);
  const { declaration } = transformSync(entry, readFileSync(entry, 'utf8'), {
    tsconfig: false,
    typescript: { declaration: {} },
  });
  writeFileSync(
    join(directory, 'testing.d.ts'),
    declaration.replace('"../src/contract.ts"', '"./contract.js"'),
  );
}
