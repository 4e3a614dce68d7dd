import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { build } from 'esbuild';
import { publint } from 'publint';
import { installClient } from '../support/packed-client.ts';

const root = join(import.meta.dirname, '../../..');
const { directory, tarball } = installClient();
const installed = join(directory, 'node_modules/@petstore/client');

/** Bundles a program as for a web page. Returns its size in bytes, minified and compressed. */
async function sizeOf(program: string): Promise<number> {
  const { outputFiles, warnings } = await build({
    stdin: { contents: program, resolveDir: directory },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    write: false,
  });
  assert.deepEqual(warnings, []);
  return gzipSync(outputFiles[0]!.contents).length;
}

const KIB = 1024;

/** A directory next to the installed package. */
function project(t: TestContext): string {
  const path = mkdtempSync(join(directory, 'project-'));
  t.after(() => rmSync(path, { recursive: true }));
  return path;
}

/** Compiles a program with the compiler that most users have. Returns what it reports. */
function compile(t: TestContext, program: string, settings: object): string {
  const path = project(t);
  const compilerOptions = { strict: true, noEmit: true, types: [], target: 'es2022', ...settings };
  writeFileSync(join(path, 'package.json'), '{"type":"module"}');
  writeFileSync(join(path, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
  writeFileSync(join(path, 'program.ts'), program);
  const tsc = join(root, 'clients/node_modules/.bin/tsc');
  return spawnSync(tsc, ['--pretty', 'false'], { cwd: path, encoding: 'utf8' }).stdout;
}

describe('the package', () => {
  it('contains the compiled modules, their types, the README and the license, and needs no other package', () => {
    const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
    for (const kind of ['dependencies', 'peerDependencies', 'optionalDependencies'])
      assert.equal(manifest[kind], undefined);
    assert.deepEqual(readdirSync(installed).toSorted(), ['LICENSE', 'README.md', 'dist', 'package.json']);
    for (const module of globSync('**/*.js', { cwd: join(installed, 'dist') }))
      assert.doesNotMatch(readFileSync(join(installed, 'dist', module), 'utf8'), /from '[^.]/, module);
    assert.deepEqual(
      readFileSync(join(installed, 'LICENSE'), 'utf8'),
      readFileSync(join(root, 'LICENSE'), 'utf8'),
    );
  });

  it('has a manifest in which publint finds no fault', async () => {
    const { messages } = await publint({ pkgDir: installed, strict: true });
    assert.deepEqual(messages, []);
  });

  it('has types that attw finds right for every way in which a module can be imported', async () => {
    const result = await checkPackage(createPackageFromTarballData(readFileSync(tarball)));
    assert.ok(result.types);
    // It is a package of ES modules: Node.js 20.19 and newer can load them with `require` as well.
    const problems = result.problems.filter(
      problem => !(problem.kind === 'CJSResolvesToESM' && problem.resolutionKind === 'node16-cjs'),
    );
    assert.deepEqual(problems, []);
  });

  it('adds at most 3 KiB to a page that uses one operation, and at most 8 KiB with all', async t => {
    const client = `export { createClient } from '@petstore/client';`;
    const sizes = {
      'one list': await sizeOf(`${client} export { list } from '@petstore/client/pets';`),
      'one read': await sizeOf(`${client} export { get } from '@petstore/client/orders';`),
      'one write': await sizeOf(`${client} export { create } from '@petstore/client/orders';`),
      everything: await sizeOf(`export * from '@petstore/client';`),
    };
    for (const [name, size] of Object.entries(sizes)) {
      t.diagnostic(`${name}: ${size} bytes, minified and compressed`);
      assert.ok(size <= (name === 'everything' ? 8 : 3) * KIB, `${name}: ${size} bytes`);
    }
  });

  it('bundles no other operation with one that is imported alone', async () => {
    const { outputFiles } = await build({
      stdin: { contents: `export { list } from '@petstore/client/pets';`, resolveDir: directory },
      bundle: true,
      format: 'esm',
      write: false,
    });
    const { text } = outputFiles[0]!;
    assert.deepEqual(
      [...text.matchAll(/"(GET|POST|PUT|PATCH|DELETE) (\/\S*)"/g)].map(([, ...name]) => name.join(' ')),
      ['GET /pets'],
    );
  });
});

describe('the types of the package', () => {
  const start = `import { NotFoundError, PetStore } from '@petstore/client';
    import * as orders from '@petstore/client/orders';
    const store = new PetStore({ baseUrl: 'http://petstore.example', apiKey: 'psk_' });\n`;
  const nodenext = { module: 'nodenext', lib: ['es2022', 'dom'] };
  const settings = [
    nodenext,
    { module: 'esnext', moduleResolution: 'bundler', lib: ['es2022', 'dom'] },
    { module: 'nodenext', exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
  ];

  for (const options of settings) {
    it(`compile with ${JSON.stringify(options)}`, t => {
      const program = `${start}
        export const pets: AsyncIterable<{ name: string }> = store.pets.list({ status: 'available', id: [1, 2] });
        export const order: Promise<{ quantity?: number }> = store.orders.create({ petId: 22 });
        export const rotated = (await store.keys.rotate(1)).earlierKeysExpireAt.length;
        const { data, etag } = await store.orders.get(1).withResponse();
        await store.orders.update(data.id!, { complete: true }, { ifMatch: etag });
        for await (const event of store.events.subscribe({ from: 0, types: ['order.*'] }))
          if (event.type === 'order.placed') event.data.quantity;
        export const missing = (error: unknown) => error instanceof NotFoundError && error.code === 'pet_not_found';
        export const isFunction: unknown = orders.list;`;
      assert.equal(compile(t, program, options), '');
    });
  }

  it('reject mistakes', t => {
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
    ];
    const program = `${start}${mistakes.map(mistake => `// @ts-expect-error\n${mistake}`).join('\n')}\nexport {};`;
    assert.equal(compile(t, program, nodenext), '');
  });
});
