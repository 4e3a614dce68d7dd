import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { fillEmptyStore } from '../../src/demo/demo-shop.ts';
import { readGuide } from '../support/guide.ts';
import { installClient } from '../support/packed-client.ts';
import { requireProgram } from '../support/sample-languages.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';

const { directory } = installClient();
const { blocks } = readGuide('api-guide.md');
const execute = promisify(execFile);

async function aDemoShop(t: TestContext): Promise<TestApp> {
  const shop = await startTestApp(t, { alone: false });
  await fillEmptyStore(shop.app.db, shop.clock.now());
  await shop.app.db.numberEvents();
  return shop;
}

function environmentOf({ origin, adminKey }: TestApp) {
  return { PATH: process.env.PATH, SHOP: origin, KEY: adminKey };
}

describe('the guide', () => {
  it('has a quickstart whose commands work, also twice', async t => {
    const shop = await aDemoShop(t);
    const commands = blocks.filter(({ language }) => language === 'sh').map(({ text }) => text);
    const [variables, ...others] = commands;
    assert.match(variables!, /^export SHOP=\S+ KEY=\$\(cat data\/admin\.key\)\s*$/);
    assert.equal(others.length, 3);
    const script = [...others, ...others].join('\n').replaceAll('curl ', 'curl -sS --fail ');
    const { stdout } = await execute('sh', ['-euc', script], { env: environmentOf(shop) });
    assert.match(stdout, /^x-ratelimit-remaining: \d+/im);
    assert.equal(new Set(stdout.match(/\{"id":\d+,"petId":1,"quantity":1,"complete":false\}/g)).size, 1);
    const [, orderId] = /\{"id":(\d+),"petId":1,/.exec(stdout)!;
    assert.match(stdout, new RegExp(`"type":"order\\.placed","subject":"store/orders/${orderId}"`));
  });

  const expected = [/^1 Biscuit the Beagle\n/, /^\d+\n$/, /^\d+ order\.placed\n/];

  for (const [language, file, program] of [
    ['ts', 'recipe.js', process.execPath],
    ['python', 'recipe.py', 'python3'],
  ] as const)
    it(`has recipes in ${language} that work as they are`, async t => {
      if (language === 'python') requireProgram(language);
      const shop = await aDemoShop(t);
      // Those that follow are programs of their own: test/sdk/backend-recipes.test.ts runs them.
      const recipes = blocks.filter(block => block.language === language).slice(0, expected.length);
      assert.equal(recipes.length, expected.length);
      const place = mkdtempSync(join(directory, 'recipes-'));
      t.after(() => rmSync(place, { recursive: true }));
      for (const [i, { text, line }] of recipes.entries()) {
        writeFileSync(join(place, file), language === 'ts' ? stripTypeScriptTypes(text) : text);
        const child = spawn(program, [join(place, file)], {
          env: environmentOf(shop),
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        let output = '';
        for await (const chunk of child.stdout) {
          output += chunk;
          // Following events does not end by itself.
          if (i === 2) child.kill();
        }
        assert.match(output, expected[i]!, `line ${line}`);
      }
    });
});
