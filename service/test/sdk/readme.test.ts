import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { it } from 'node:test';
import { sample } from '../../../web/portal/samples.js';
import { fillEmptyStore } from '../../src/demo/demo-shop.ts';
import { callOf, exampleValues } from '../../src/portal/call.ts';
import { type Contract, ContractView } from '../../src/portal/contract.ts';
import { compile } from '../support/compile.ts';
import { readContract } from '../support/contract-file.ts';
import { readGuide } from '../support/guide.ts';
import { installClient } from '../support/packed-client.ts';
import { startTestApp } from '../support/test-app.ts';

const { directory } = installClient();
const examples = readGuide('../sdk/README.md').blocks.filter(({ language }) => language === 'js');

/** What the examples print, one after another, in the demo shop. */
const OUTPUTS = [
  /^Biscuit the Beagle\n(.+\n)+\d+\n$/,
  /^Biscuit the Beagle\n1 .+\n\d+\n(\d+) of \1\n$/,
  'precondition_failed\n',
  'rate_limit_exceeded 0\n',
  'available 3\nHedgehogs\n0 category_name_taken\n',
  'GET /pets 1\n200 true\n',
  /^\d+ Biscuit the Beagle\n$/,
  '',
  'pending\ntrue\n',
  /^(.+\n)+Max\n$/,
];

it('the README of the client has examples that work as they are in the demo shop, where only the package is installed', async t => {
  const shop = await startTestApp(t, { alone: false });
  const now = shop.clock.now();
  await fillEmptyStore(shop.app.db, now);
  await shop.app.keyLimits.load(now);
  await shop.app.db.numberEvents();
  const small = await shop.clientWith({ plan: 'enterprise', quotas: { perMinute: 3, perDay: 100 } });
  const env = {
    PATH: process.env.PATH,
    PETSTORE_URL: shop.origin,
    PETSTORE_API_KEY: shop.adminKey,
    PETSTORE_SMALL_KEY: small.key,
    WEBHOOK_SECRET: `whsec_${Buffer.alloc(32).toString('base64')}`,
  };
  assert.equal(examples.length, OUTPUTS.length);
  for (const [i, example] of examples.entries()) {
    const file = join(directory, `example-${process.pid}-${i}.js`);
    t.after(() => rmSync(file));
    writeFileSync(file, example.text);
    const child = spawn(process.execPath, [file], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const [output, errors] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ]);
    assert.equal(errors, '', `line ${example.line}`);
    const expected = OUTPUTS[i]!;
    if (typeof expected === 'string') assert.equal(output, expected, `line ${example.line}`);
    else assert.match(output, expected, `line ${example.line}`);
  }
});

const view = new ContractView(readContract<Contract>());

function programsIn(file: string): string[] {
  const blocks = readGuide(file).blocks.filter(({ language }) => ['js', 'ts'].includes(language));
  // Those with a framework are compiled in backend-recipes.test.ts.
  const programs = blocks.map(({ text }) => text).filter(text => !/from '(express|fastify)'/.test(text));
  return programs.filter(text => text.includes('@petstore/client'));
}

it('samples that use the client compile with --strict: in its README, in the guide, and on the page of each operation', t => {
  const written = [...programsIn('../sdk/README.md'), ...programsIn('api-guide.md')];
  assert.ok(written.length >= 11);
  const generated = view.operations.map(operation =>
    sample('typescript', callOf(view, operation), exampleValues(operation), 'https://petstore.example'),
  );
  assert.ok(generated.length > 50);
  assert.equal(compile(t, [...written, ...generated], { module: 'nodenext', types: ['node'] }), '');
});
