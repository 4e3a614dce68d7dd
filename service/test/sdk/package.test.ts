import assert from 'node:assert/strict';
import { globSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { build } from 'esbuild';
import { publint } from 'publint';
import { rolldown } from 'rolldown';
import { compile, compiler, project } from '../support/compile.ts';
import { isLong } from '../support/long.ts';
import { installClient } from '../support/packed-client.ts';

const root = join(import.meta.dirname, '../../..');
const { directory, tarball } = installClient();
const installed = join(directory, 'node_modules/@petstore/client');

describe('the package', () => {
  it('contains the compiled modules with types and source maps, and the documents, and needs no other package', () => {
    const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
    for (const kind of ['dependencies', 'peerDependencies', 'optionalDependencies'])
      assert.equal(manifest[kind], undefined);
    assert.deepEqual(manifest.engines, { node: '>=20.5.0' });
    assert.deepEqual(readdirSync(installed).toSorted(), [
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'dist',
      'package.json',
    ]);
    const modules = globSync('**/*.js', { cwd: join(installed, 'dist') });
    assert.ok(modules.includes('index.js'));
    for (const module of modules) {
      const file = join(installed, 'dist', module);
      assert.doesNotMatch(readFileSync(file, 'utf8'), /from ['"][^.]/, module);
      const { sources, sourcesContent } = JSON.parse(readFileSync(`${file}.map`, 'utf8'));
      assert.equal(sourcesContent.length, sources.length);
      // It is made from many modules.
      if (module === 'testing.js') continue;
      const source = module.replace(/\.js$/, '.ts');
      assert.deepEqual(sources, [basename(source)]);
      assert.deepEqual(sourcesContent, [readFileSync(join(root, 'sdk/src', source), 'utf8')]);
    }
    assert.deepEqual(
      readFileSync(join(installed, 'LICENSE'), 'utf8'),
      readFileSync(join(root, 'LICENSE'), 'utf8'),
    );
  });

  it('has a manifest in which publint finds no fault', async () => {
    const { messages } = await publint({ pkgDir: installed, strict: true });
    // Its suggestion, a condition in `imports`, would need an import map in pages that load the modules without a bundler.
    const others = messages.filter(({ code }) => code !== 'USE_EXPORTS_OR_IMPORTS_BROWSER');
    assert.deepEqual(others, []);
  });

  it('has types that attw finds right for every way in which a module can be imported', async () => {
    const result = await checkPackage(createPackageFromTarballData(readFileSync(tarball)));
    assert.ok(result.types);
    const known = [
      // It is a package of ES modules: Node.js 20.19 and newer can load them with `require` as well.
      { kind: 'CJSResolvesToESM', resolutionKind: 'node16-cjs' },
      // The oldest resolution reads no `exports`. The README names those that the package needs.
      { kind: 'NoResolution', resolutionKind: 'node10' },
    ];
    const problems = result.problems.filter(
      problem =>
        !known.some(
          ({ kind, resolutionKind }) =>
            problem.kind === kind && 'resolutionKind' in problem && problem.resolutionKind === resolutionKind,
        ),
    );
    assert.deepEqual(problems, []);
  });

  // As for a web page. Rolldown is the bundler and minifier of Vite 8.
  const bundlers: Record<
    string,
    { bundle: (file: string) => Promise<string>; one: number; everything: number }
  > = {
    rolldown: {
      bundle: async input => {
        const bundle = await rolldown({ input, platform: 'browser' });
        const { output } = await bundle.generate({ format: 'esm', minify: true });
        assert.equal(output.length, 1);
        return output[0].code;
      },
      one: 3_540,
      everything: 6_900,
    },
    esbuild: {
      bundle: async file => {
        const options = {
          bundle: true,
          minify: true,
          format: 'esm',
          platform: 'browser',
          write: false,
        } as const;
        const { outputFiles, warnings } = await build({ entryPoints: [file], ...options });
        assert.deepEqual(warnings, []);
        return outputFiles[0]!.text;
      },
      one: 3_660,
      everything: 7_120,
    },
  };
  for (const [bundler, { bundle, one, everything }] of Object.entries(bundlers)) {
    it(`adds at most ${one} bytes to a page that uses one operation, and no other operation, and ${everything} with all, by ${bundler}`, async t => {
      const client = `export { createClient } from '@petstore/client';`;
      const pages = {
        list: `${client} export { list } from '@petstore/client/pets';`,
        read: `${client} export { get } from '@petstore/client/orders';`,
        write: `${client} export { create } from '@petstore/client/orders';`,
        everything: `export * from '@petstore/client';`,
      };
      const path = project(t);
      for (const [name, text] of Object.entries(pages)) {
        const file = join(path, `${name}.js`);
        writeFileSync(file, text);
        const code = await bundle(file);
        const size = gzipSync(code).length;
        t.diagnostic(`${name}: ${size} bytes, minified and compressed`);
        assert.ok(size <= (name === 'everything' ? everything : one), `${name}: ${size} bytes`);
        const operations = code.match(/["`](GET|POST|PUT|PATCH|DELETE) \/[^"`]*["`]/g) ?? [];
        const isAlone = operations.length === 1;
        assert.equal(isAlone, name !== 'everything', `${name}: ${operations}`);
        // Pages cannot set it.
        assert.doesNotMatch(code, /User-Agent/);
      }
    });
  }
});

describe('the types of the package', () => {
  const start = `import { NotFoundError, PetStore } from '@petstore/client';
    import * as orders from '@petstore/client/orders';
    const store = new PetStore({ baseUrl: 'http://petstore.example', apiKey: 'psk_' });\n`;
  const uses = `${start}
    export const pets: AsyncIterable<{ name: string }> = store.pets.list({ status: 'available', id: [1, 2] });
    export const order: Promise<{ quantity?: number }> = store.orders.create({ petId: 22 });
    export const rotated = (await store.keys.rotate(1)).earlierKeysExpireAt.length;
    const { data, etag } = await store.orders.get(1).withResponse();
    await store.orders.update(data.id, { complete: true }, { ifMatch: etag });
    const [first] = (await store.orders.list()).items;
    const placed = await store.orders.create({});
    export const again: Promise<{ id: number; quantity: number; complete: boolean }> = store.orders.get((first ?? placed).id);
    export const status: 'available' | 'pending' | 'sold' = (await store.pets.get(1)).status;
    export const all: { status: string }[] = await store.pets.list().toArray({ limit: 1_000 });
    await store.pets.replace(1, { name: 'Rex', categoryId: 1 });
    for await (const event of store.events.subscribe({ from: 0, types: ['order.*'] }))
      if (event.type === 'order.placed') event.data.quantity;
    export const missing = (error: unknown) => error instanceof NotFoundError && error.code === 'pet_not_found';
    export const isFunction: unknown = orders.list;`;
  const mistakes = [
    `store.pets.list({ status: 'sleeping' });`,
    `store.pets.list({ categroyId: 1 });`,
    `store.pets.create({ name: 'Rex' });`,
    `store.pets.update('7', {});`,
    `store.orders.cancel();`,
    `store.orders.get(1).then(order => order.total);`,
    `if (new NotFoundError('').code === 'pet_not_fuond');`,
    `for await (const event of store.events.subscribe()) if (event.type === 'pet.bought');`,
    `for await (const event of store.events.subscribe()) if (event.type === 'pet.created') event.data.quantity;`,
    `new PetStore({ apiKey: 'psk_' });`,
    `store.events.subscribe({ types: ['order.created'] });`,
    `store.events.subscribe({ types: ['orders.*'] });`,
    `store.pets.list().toArray();`,
    `(await store.orders.get(1)).petId.toFixed();`,
  ];
  const rejected = `${start}${mistakes.map(mistake => `// @ts-expect-error\n${mistake}`).join('\n')}\nexport {};`;
  /** That most users have. It takes eight times as long: only `npm run test:long` uses it. */
  const earlier = 'clients/node_modules/.bin/tsc';

  for (const [tsc, options] of [
    ...(isLong ? [[earlier, { module: 'nodenext', lib: ['es2022', 'dom'] }] as const] : []),
    [compiler, { module: 'esnext', moduleResolution: 'bundler', lib: ['es2022', 'dom'] }],
    [compiler, { module: 'nodenext', exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true }],
  ] as const) {
    it(`compile with ${tsc} ${JSON.stringify(options)}, and reject mistakes`, t => {
      assert.equal(compile(t, [uses, rejected], options, tsc), '');
    });
  }
});
