import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { freePort } from '../../../scripts/servers/ports.ts';
import { MINUTE } from '../../src/kit/clock.ts';
import { aCategory, aPet } from '../support/factories.ts';
import { readGuide } from '../support/guide.ts';
import { installClient } from '../support/packed-client.ts';
import { requireProgram } from '../support/sample-languages.ts';
import { signWebhook } from '../support/service-pair.ts';
import { startTestApp } from '../support/test-app.ts';
import { until } from '../support/until.ts';

const root = join(import.meta.dirname, '../../..');
const { directory } = installClient();
const { blocks } = readGuide('api-guide.md');
const recipes = blocks.filter(({ language }) => language === 'ts').slice(3);
const execute = promisify(execFile);

/** The recipe with a text that no other has. */
function recipeWith(text: string): string {
  const [found, ...others] = recipes.filter(recipe => recipe.text.includes(text));
  assert.ok(found && others.length === 0, text);
  return found.text;
}

/** A project with the client, the frameworks and their types. */
function project(t: TestContext): string {
  const path = mkdtempSync(join(directory, 'recipes-'));
  t.after(() => rmSync(path, { recursive: true }));
  for (const name of ['express', 'fastify', '@types/express', '@types/node']) {
    const link = join(path, 'node_modules', name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), link);
  }
  return path;
}

/** Starts a recipe in TypeScript as it is. Its output is in `output`. */
function start(t: TestContext, recipe: string, env: Record<string, string>) {
  return startProgram(t, [process.execPath, 'recipe.js'], stripTypeScriptTypes(recipe), env);
}

/** Writes a program into the file that its command names, and starts it. */
async function startProgram(
  t: TestContext,
  [command, file]: [string, string],
  program: string,
  env: Record<string, string>,
) {
  const port = await freePort();
  const cwd = project(t);
  writeFileSync(join(cwd, file), program);
  const child = spawn(command, [file], {
    cwd,
    env: { PATH: process.env.PATH, ...env, PORT: String(port) },
    stdio: 'pipe',
  });
  t.after(() => child.kill());
  const output = { text: '' };
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', text => {
      output.text += text;
    });
  const url = `http://127.0.0.1:${port}`;
  await until(`${url} responds: ${output.text}`, () =>
    fetch(`${url}/nothing`).then(
      () => true,
      () => false,
    ),
  );
  return { url, output };
}

describe('a webhook receiver in the guide accepts deliveries of the service, and no others:', () => {
  const secret = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
  const event = { specversion: '1.0', id: '7', type: 'pet.created', data: { name: 'Zoë' } };

  async function assertReceives(send: (init: RequestInit) => Promise<Response>, printed: () => string) {
    const { headers, body } = await signWebhook(event, secret);
    const statusOf = async (init: RequestInit) => (await send({ method: 'POST', ...init })).status;
    assert.equal(await statusOf({ headers, body }), 204);
    await until('the event is printed', () => printed().includes('7 pet.created'));
    assert.equal(await statusOf({ headers, body: body.replace('Zoë', 'Zoe') }), 401);
    await until('the reason is printed', () => printed().includes('No signature'));
    assert.equal(await statusOf({ headers: { 'content-type': 'application/json' }, body }), 401);
    await until('the reason is printed', () => printed().includes('The header webhook-id is missing'));
  }

  for (const [name, text] of [
    ['Node.js', 'chunks.push(chunk)'],
    ['Express', "from 'express'"],
    ['Fastify', "from 'fastify'"],
  ] as const)
    it(name, async t => {
      const { url, output } = await start(t, recipeWith(text), { WEBHOOK_SECRET: secret });
      await assertReceives(
        init => fetch(`${url}/webhooks`, init),
        () => output.text,
      );
    });

  it('Node.js, also after a sender that disconnects in the middle of a message', async t => {
    const { url, output } = await start(t, recipeWith('chunks.push(chunk)'), { WEBHOOK_SECRET: secret });
    const sender = connect(Number(new URL(url).port), '127.0.0.1');
    t.after(() => sender.destroy());
    sender.on('error', () => {});
    sender.end('POST / HTTP/1.1\r\nHost: shop.example\r\nContent-Length: 9\r\n\r\nhalf');
    await until('the interruption is printed', () => output.text.includes('Error: aborted'));
    await assertReceives(
      init => fetch(`${url}/webhooks`, init),
      () => output.text,
    );
  });

  it('Python', async t => {
    requireProgram('python');
    const program = blocks.find(({ text }) => text.includes('BaseHTTPRequestHandler'))!.text;
    const { url, output } = await startProgram(t, ['python3', 'recipe.py'], program, {
      WEBHOOK_SECRET: secret,
    });
    const statusOf = async (init: RequestInit) => (await fetch(url, { method: 'POST', ...init })).status;
    const { headers, body } = await signWebhook(event, secret);
    assert.equal(await statusOf({ headers, body }), 204);
    await until('the event is printed', () => output.text.includes('7 pet.created'));
    const rotated = `v1,${Buffer.alloc(32).toString('base64')} ${headers['webhook-signature']}`;
    assert.equal(await statusOf({ headers: { ...headers, 'webhook-signature': rotated }, body }), 204);
    assert.equal(await statusOf({ headers, body: body.replace('Zoë', 'Zoe') }), 401);
    assert.equal(await statusOf({ body }), 401);
    const old = await signWebhook(event, secret, { timestamp: new Date(Date.now() - 10 * MINUTE) });
    assert.equal(await statusOf(old), 401);
  });

  it('Next.js', async t => {
    const file = join(project(t), 'route.js');
    writeFileSync(file, stripTypeScriptTypes(recipeWith('export async function POST')));
    const printed: unknown[] = [];
    for (const method of ['log', 'warn'] as const)
      t.mock.method(console, method, (...args: unknown[]) => printed.push(args.join(' ')));
    process.env.WEBHOOK_SECRET = secret;
    t.after(() => delete process.env.WEBHOOK_SECRET);
    const { POST }: { POST: (request: Request) => Promise<Response> } = await import(
      pathToFileURL(file).href
    );
    await assertReceives(
      init => POST(new Request('http://shop.example/webhooks', init)),
      () => printed.join('\n'),
    );
  });
});

it('the backend in the guide sends the stock of all pets to a page, and each change', async t => {
  const shop = await startTestApp(t, { alone: false });
  const categoryId = await aCategory(shop.api);
  const rex = await aPet(shop.api, { name: 'Rex', categoryId, stock: 5 });
  await shop.app.db.numberEvents();
  const { url } = await start(t, recipeWith('new Set<ServerResponse>'), {
    SHOP: shop.origin,
    KEY: shop.adminKey,
  });
  const { body } = await fetch(`${url}/stock`);
  let text = '';
  const reading = (async () => {
    for await (const chunk of body!.pipeThrough(new TextDecoderStream())) text += chunk;
  })();
  reading.catch(() => {});
  const shows = async (petId: number, quantity: number) => {
    await shop.app.db.numberEvents();
    await until(`${petId} has ${quantity}`, () =>
      text.includes(`data: {"petId":${petId},"quantity":${quantity}}\n\n`),
    );
  };
  await shows(rex, 5);
  await shop.api.post('/store/orders', { petId: rex, quantity: 2 });
  await shows(rex, 3);
  const max = (await shop.api.post('/pets', { name: 'Max', categoryId })).body.id;
  await shows(max, 1);
  await shop.api.delete(`/pets/${max}`);
  await shows(max, 0);
});

it('the mirror in the guide copies the pets, applies later events, and starts again when the log does not have them', async t => {
  const shop = await startTestApp(t, { alone: false });
  const categoryId = await aCategory(shop.api);
  const [rex, max] = [
    await aPet(shop.api, { name: 'Rex', categoryId }),
    await aPet(shop.api, { name: 'Max', categoryId }),
  ];
  const cwd = project(t);
  writeFileSync(join(cwd, 'mirror.js'), stripTypeScriptTypes(recipeWith("const file = 'mirror.json'")));
  const mirror = () => JSON.parse(readFileSync(join(cwd, 'mirror.json'), 'utf8'));
  const run = async () => {
    await shop.app.db.numberEvents();
    const env = { SHOP: shop.origin, KEY: shop.adminKey };
    const { stdout } = await execute(process.execPath, ['mirror.js'], { cwd, env });
    const pets = (await shop.api.get('/pets?limit=100')).body as { id: number }[];
    assert.deepEqual(Object.values(mirror().pets), pets);
    return stdout;
  };
  assert.match(await run(), /^2 pets, up to event \d+\n$/);
  await shop.api.patch(`/pets/${rex}`, { name: 'Rexi' });
  await shop.api.delete(`/pets/${max}`);
  await aPet(shop.api, { name: 'Ida', categoryId });
  await run();
  // The service knows no such event.
  writeFileSync(join(cwd, 'mirror.json'), JSON.stringify({ ...mirror(), cursor: '999999', pets: {} }));
  assert.match(await run(), /^2 pets, /);
});

it('the programs compile with --strict', async t => {
  const path = project(t);
  assert.equal(recipes.length, 6);
  for (const [i, { text }] of recipes.entries()) writeFileSync(join(path, `recipe${i}.ts`), text);
  const compilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    module: 'nodenext',
    target: 'esnext',
    types: ['node'],
  };
  writeFileSync(join(path, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
  const { stdout } = await execute(join(root, 'node_modules/.bin/tsc'), ['-p', path]).catch(error => error);
  assert.equal(stdout, '');
});
