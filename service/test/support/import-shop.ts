import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { BatchProxy } from './batch-proxy.ts';
import { PackedCommand } from './packed-command.ts';
import { itemsOf } from './pages.ts';
import { startTestApp, type TestApp } from './test-app.ts';
import { valuesOf } from './values.ts';

/** A shop with the categories Dogs (1) and Cats (2), and a directory in which the installed command runs. */
export interface ImportShop {
  shop: TestApp;
  proxy: BatchProxy;
  petstore: PackedCommand;
  directory: string;
  write: (name: string, ...lines: string[]) => void;
  read: (name: string) => string;
  files: () => string[];
  start: (
    args: readonly string[],
    environment?: Record<string, string>,
  ) => ReturnType<PackedCommand['start']>;
  run: PackedCommand['run'];
  /** Imports a file with `--json`. Returns the summary. */
  summaryOf: (args: readonly string[], code?: number) => Promise<Record<string, unknown>>;
  /** Returns the names of all pets, in the order of their IDs. */
  petNames: () => Promise<string[]>;
}

/** Starts an import shop for all cases of the file, or of the `describe` that calls this. Its properties can be read in the cases. */
export function useImportShop(): Readonly<ImportShop> {
  const resources = new AsyncDisposableStack();
  const test = {} as ImportShop;
  before(async () => {
    Object.assign(test, await startImportShop(resources));
  });
  after(() => resources.disposeAsync());
  return test;
}

export async function startImportShop(resources: AsyncDisposableStack): Promise<ImportShop> {
  const directory = mkdtempSync(join(tmpdir(), 'petstore-test-'));
  resources.defer(() => rmSync(directory, { recursive: true }));
  // Before the shop starts: while the command is installed, this process does not notice that the service closes an idle connection.
  const petstore = new PackedCommand({ HOME: directory, XDG_CONFIG_HOME: directory });
  const shop = await startTestApp({ after: release => resources.defer(release) }, { alone: false });
  for (const name of ['Dogs', 'Cats']) await shop.api.post('/categories', { name });
  const proxy = new BatchProxy(shop.origin);
  const origin = await proxy.listen();
  resources.defer(() => proxy.close());
  Object.assign(petstore.environment, { PETSTORE_URL: origin, PETSTORE_API_KEY: shop.adminKey });
  const inside = (args: readonly string[]) => args.map(arg => arg.replace(/^@/, `${directory}/`));
  const start: ImportShop['start'] = (args, environment) => petstore.start(inside(args), environment);
  const run: ImportShop['run'] = (args, ...options) => petstore.run(inside(args), ...options);
  return {
    shop,
    proxy,
    petstore,
    directory,
    write: (name, ...lines) => writeFileSync(join(directory, name), lines.map(line => `${line}\n`).join('')),
    read: name => readFileSync(join(directory, name), 'utf8'),
    files: () => readdirSync(directory).toSorted(),
    start,
    run,
    summaryOf: async (args, code = 0) => {
      const ended = await run(['import', ...args, '--json']);
      assert.equal(ended.code, code, ended.stderr);
      return JSON.parse(ended.stdout);
    },
    petNames: async () => valuesOf(await itemsOf(shop.api, '/pets?limit=100'), 'name'),
  };
}
