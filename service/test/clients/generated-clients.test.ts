import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, globSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { basename, delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, describe, it, type TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { MINUTE } from '../../src/kit/clock.ts';
import { contractFile } from '../support/contract-file.ts';
import { readGuide, tableHeaded } from '../support/guide.ts';
import { listenLocally } from '../support/local-server.ts';
import { isLong } from '../support/long.ts';
import { dataDirectory } from '../support/service-process.ts';
import { startTestApp } from '../support/test-app.ts';
import { useShop } from '../support/use-shop.ts';
import { assertNone } from '../support/values.ts';

const root = join(import.meta.dirname, '../../..');
/** The manifest of the tools, the program, and for each tool the code that uses what it generates. */
const clients = join(root, 'clients');
const guide = readGuide('api-guide.md');

/** A project like those of the API's users. Without `skipLibCheck`, the compiler checks generated declarations as well. */
const compilerOptions = {
  strict: true,
  target: 'es2024',
  lib: ['es2024', 'dom', 'dom.iterable'],
  module: 'nodenext',
  types: ['node'],
  rewriteRelativeImportExtensions: true,
  outDir: 'compiled',
};

type Program = (origin: string, key: string) => Record<string, () => Promise<void>>;

/** The cells of the tools in the guide, and the directory in `clients` with the code that uses what they generate. */
const tools = {
  '`openapi-typescript`, `openapi-fetch`': 'openapi-fetch',
  '`@hey-api/openapi-ts`': 'hey-api',
  '`orval`': 'orval-fetch',
  '`orval`, `zod`': 'orval-zod',
  '`swagger-typescript-api`': 'swagger-typescript-api',
  '`oazapfts`, `@oazapfts/runtime`': 'oazapfts',
  '`@kubb/cli`, `@kubb/plugin-client`': 'kubb',
};
/** The files that tools read, and how their text in the guide begins. */
const configurations = {
  'orval.config.js': 'export default {',
  'kubb.config.js': "import { defineConfig } from '@kubb/core'",
};
const rows = tableHeaded(guide, 'Tool');
/** Types alone and validators, by default. The others generate clients from the same schemas. */
const chosen = rows.filter(([tool]) => isLong || tool === rows[0]![0] || tool?.includes('zod'));

it('every tool of the guide is tested', () => {
  assert.deepEqual(
    rows.map(([tool]) => tool),
    Object.keys(tools),
  );
});

for (const [tool = '', versions, command] of chosen) {
  const name = tools[tool as keyof typeof tools];

  describe(`the client that ${tool} generates`, () => {
    const shop = useShop({
      alone: false, // `fetch` keeps its connections
      environment: { PETSTORE_WEBHOOKS_ALLOW_PRIVATE: 'true' },
      webhooks: { resolve: async () => [{ address: '127.0.0.1', family: 4 }] },
    });
    const directory = dataDirectory({ after });

    /** What the compiler reports, one entry for each error. */
    let errors: string[];
    before(() => {
      prepare(directory, name);
      const generated = run(directory, command!.replaceAll('`', '').replace(/^npx /, ''));
      assert.equal(generated.status, 0, generated.output);
      const { output } = run(directory, 'tsc --pretty false');
      errors = output.split(/\n(?! )/).filter(line => line !== '');
    });
    const isAboutMistake = (error: string) => error.startsWith('rejected.ts');

    it('is of the version that the guide names', () => {
      const { devDependencies } = JSON.parse(readFileSync(join(clients, 'package.json'), 'utf8'));
      const packages = [...tool.matchAll(/`([^`]+)`/g)].map(([, name]) => devDependencies[name!]);
      assert.equal(versions, packages.join(', '));
    });

    it('compiles with --strict, and so does a program that uses it', () => {
      assertNone(errors, error => !isAboutMistake(error));
    });

    it('does not compile with a wrong field, type or value', () => {
      assert.deepEqual(errors.filter(isAboutMistake), []);
    });

    const programs = (): Promise<Record<'program' | 'programOfEarlierRelease', Program>> =>
      import(pathToFileURL(join(directory, 'compiled/program.js')).href);
    // The program of `orval-fetch` sets it.
    after(() => delete process.env.PETSTORE_URL);

    it('works', async t => {
      const { program } = await programs();
      for (const [step, test] of Object.entries(program(shop.origin, shop.adminKey)))
        await t.test(step, test);
    });

    it('works with a service that has newer codes and types of events', async t => {
      const { programOfEarlierRelease } = await programs();
      const { origin, adminKey } = await startTestApp(t, { alone: false });
      const newer = await startNewerService(t, origin);
      for (const [step, test] of Object.entries(programOfEarlierRelease(newer, adminKey)))
        await t.test(step, test);
    });
  });
}

/** A service of a later release, in front of this one: it has a further code, and ends each page of events with a further type. */
async function startNewerService(t: TestContext, origin: string): Promise<string> {
  const server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request;
    const key = { 'x-api-key': String(headers['x-api-key']), 'content-type': 'application/json' };
    const body = method === 'GET' ? null : await text(request);
    const received = await fetch(new URL(url, origin), { method, headers: key, body });
    const value = (await received.json()) as object;
    if (!received.ok) Object.assign(value, { code: 'pet_asleep' });
    else if (Array.isArray(value))
      value.push({
        ...value.at(-1),
        type: 'supplier.created',
        subject: 'suppliers/7',
        data: { city: 'Ulm' },
      });
    response.writeHead(received.status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  });
  return listenLocally(t, server);
}

/** Sets up a project with the contract, the program, and the settings of the guide. */
function prepare(directory: string, name: string): void {
  const path = (file: string) => join(directory, file);
  symlinkSync(join(root, 'node_modules'), path('node_modules'));
  for (const file of [contractFile, ...globSync([`${clients}/*.ts`, `${clients}/${name}/*.ts`])]) {
    copyFileSync(file, path(basename(file)));
  }
  writeFileSync(path('package.json'), JSON.stringify({ type: 'module' }));
  writeFileSync(path('tsconfig.json'), JSON.stringify({ compilerOptions }));
  for (const [file, beginning] of Object.entries(configurations)) {
    const block = guide.blocks.find(({ text }) => text.startsWith(beginning));
    assert.ok(block, `the guide has no ${file}`);
    writeFileSync(path(file), block.text);
  }
}

/** Runs a command with the programs of the project and of `clients`. */
function run(directory: string, command: string): { status: number | null; output: string } {
  const programs = [root, clients].map(path => join(path, 'node_modules/.bin'));
  const PATH = [...programs, process.env.PATH].join(delimiter);
  const { status, stdout, stderr, error } = spawnSync('sh', ['-euc', command], {
    cwd: directory,
    encoding: 'utf8',
    env: { ...process.env, PATH },
    timeout: 5 * MINUTE,
  });
  return { status, output: `${stdout}${stderr}${error?.message ?? ''}` };
}
