// Runs the packed client in Deno and Bun, against the service: node_modules/.bin/node scripts/client-runtimes.ts
// It downloads both runtimes once (95 MB), so it is not one of the tests. Linux on x64 only.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { aCategory, aPet } from '../service/test/support/factories.ts';
import { installClient } from '../service/test/support/packed-client.ts';
import { startTestApp } from '../service/test/support/test-app.ts';

const packages = ['@deno/linux-x64-glibc@2.9.6', '@oven/bun-linux-x64-baseline@1.4.5'];
const cache = join(import.meta.dirname, '../node_modules/.cache/petstore-runtimes');
const modules = join(cache, 'node_modules');

const runtimes = {
  deno: [join(modules, '@deno/linux-x64-glibc/deno'), 'run', '--allow-net', '--allow-read', '--allow-env'],
  bun: [join(modules, '@oven/bun-linux-x64-baseline/bin/bun'), 'run'],
} as const;

const PROGRAM = `
import { NotFoundError, PetStore } from '@petstore/client';
import { verifyWebhook } from '@petstore/client/verify-webhook';

const store = new PetStore({ baseUrl: URL_OF_SERVICE, apiKey: KEY });
const names = [];
for await (const { name } of store.pets.list({ limit: 1 })) names.push(name);
const error = await store.orders.get(99).catch(error => error);
const batch = store.batch();
const cats = batch.categories.create({ name: 'Cats' });
const results = await batch.run();
let event;
for await (event of store.events.subscribe({ from: 0, types: ['pet.*'] })) break;
const rejection = await verifyWebhook({}, '{}', 'whsec_AAAA').catch(error => error);
console.log(JSON.stringify({
  names,
  isNotFound: error instanceof NotFoundError,
  category: results.get(cats).name,
  event: event.type,
  rejection: rejection.name,
  limit: store.limits.windows[0].limit,
}));
`;

const EXPECTED = {
  names: ['Biscuit', 'Rex'],
  isNotFound: true,
  category: 'Cats',
  event: 'pet.created',
  rejection: 'PetStoreError',
  limit: 1_000_000,
};

if (!Object.values(runtimes).every(([program]) => existsSync(program))) {
  mkdirSync(cache, { recursive: true });
  writeFileSync(join(cache, 'package.json'), '{"private":true}');
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock'];
  const { status } = spawnSync('npm', ['install', ...options, ...packages], { cwd: cache, stdio: 'inherit' });
  if (status !== 0) throw new Error('Deno and Bun could not be downloaded: see above');
}

const { directory } = installClient();
const file = join(directory, 'runtimes.js');
for (const [name, [program, ...args]] of Object.entries(runtimes)) {
  await using resources = new AsyncDisposableStack();
  const shop = await startTestApp({ after: release => resources.defer(release) }, { alone: false });
  const categoryId = await aCategory(shop.api);
  for (const pet of ['Biscuit', 'Rex']) await aPet(shop.api, { name: pet, categoryId });
  await shop.app.db.numberEvents();
  const values = `const URL_OF_SERVICE = ${JSON.stringify(shop.origin)}, KEY = ${JSON.stringify(shop.adminKey)};`;
  writeFileSync(file, PROGRAM.replace('\n\n', `\n${values}\n`));
  const child = spawn(program, [...args, file], { cwd: directory, stdio: ['ignore', 'pipe', 'inherit'] });
  const [output] = await Promise.all([text(child.stdout), once(child, 'close')]);
  const isRight = output.trim() === JSON.stringify(EXPECTED);
  process.stdout.write(`${name}: ${isRight ? 'works' : `printed ${output}`}\n`);
  if (!isRight) process.exitCode = 1;
}
