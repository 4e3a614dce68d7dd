import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { DEFAULT_URL } from '../../../cli/src/connection.ts';
import { fetchBytes } from '../support/fetch-bytes.ts';
import { startTestApp } from '../support/test-app.ts';
import { useShop } from '../support/use-shop.ts';

const root = join(import.meta.dirname, '../../..');
const shop = useShop({ alone: false });

describe('the packages in the portal', () => {
  it('have their READMEs as pages, in HTML and Markdown, with the address of the service', async () => {
    for (const [path, file, text] of [
      ['/docs/client', 'sdk/README.md', '/packages/client.tgz'],
      ['/docs/command', 'cli/README.md', '/packages/command.tgz'],
    ] as const) {
      const readme = readFileSync(join(root, file), 'utf8');
      const page = await fetchBytes(shop.origin + path, { headers: { accept: 'text/html' } });
      const markdown = await fetchBytes(`${shop.origin}${path}.md`);
      assert.deepEqual([page.status, markdown.status], [200, 200]);
      assert.match(page.headers['content-type']!, /^text\/html/);
      for (const { text: shown } of [page, markdown]) {
        assert.ok(shown.includes(shop.origin + text));
        assert.ok(!shown.includes('127.0.0.1:8080'));
      }
      for (const heading of readme.match(/^## .*$/gm)!) assert.ok(markdown.text.includes(heading), heading);
      // Links lead to pages of the portal, or to a heading of the same page.
      for (const [, target] of markdown.text.matchAll(/\]\(([^)]+)\)/g)) {
        const [address = '', anchor] = target!.split('#');
        const { status, text: linked } = await fetchBytes(shop.origin + (address || path), {
          headers: { accept: 'text/html' },
        });
        assert.equal(status, 200, target);
        if (anchor) assert.ok(linked.includes(`id="${anchor}"`), target);
      }
    }
  });

  it('state the default of --url, which is the same in the command of every service', async () => {
    const { text } = await fetchBytes(`${shop.origin}/docs/command.md`);
    const { hostname, port } = new URL(DEFAULT_URL);
    assert.ok(text.includes(`The default is port ${port} of ${hostname}`));
  });

  it('have their installation on the start page, in llms.txt and in each sample', async () => {
    const client = `npm install ${shop.origin}/packages/client.tgz`;
    for (const path of ['/docs.md', '/llms.txt', '/llms-full.txt', '/docs/operations/listPets']) {
      const { text } = await fetchBytes(shop.origin + path);
      assert.ok(text.includes(client), path);
    }
    const { text } = await fetchBytes(`${shop.origin}/llms.txt`);
    for (const part of [
      '/docs/client.md',
      '/docs/command.md',
      `npx ${shop.origin}/packages/command.tgz pets list`,
    ])
      assert.ok(text.includes(part), part);
  });

  it('have the public URL of the service, as all samples have, if it is set', async t => {
    const environment = { PETSTORE_PUBLIC_URL: 'https://shop.example/api/' };
    const { origin } = await startTestApp(t, { environment });
    for (const [path, rest] of [
      ['/docs', '/packages/client.tgz'],
      ['/docs.md', '/packages/client.tgz'],
      ['/llms.txt', '/packages/command.tgz'],
      ['/docs/guide/quickstart.md', ' KEY='],
      ['/docs/operations/listPets.md', '/pets'],
    ] as const) {
      const { text } = await fetchBytes(origin + path);
      assert.ok(text.includes(`https://shop.example/api${rest}`), path);
      assert.ok(!text.includes('127.0.0.1'), path);
    }
  });
});

it('no text names the packages for an installation from a registry, where the names may belong to strangers', () => {
  // `npx petstore` is for a clone, which has a command of this name.
  const byName =
    /\b(?:(?:npm (?:i|install|add|exec)|yarn add|pnpm add|bun add|deno add)\s+(?:-\S+\s+)*(?:npm:)?(?:@petstore\/|petstore(?! ))|npx\s+(?:-\S+\s+)*@petstore\/)|["'`]npm:@petstore/;
  assert.match('npm install --save-dev @petstore/client', byName);
  const files = execFileSync('git', ['ls-files', '*.md', '*.ts', '*.tsx', '*.js', '*.mjs', '*.yaml'], {
    cwd: root,
    encoding: 'utf8',
  });
  const found = files
    .trim()
    .split('\n')
    .filter(file => file !== 'service/test/portal/packages.test.ts')
    .flatMap(file =>
      readFileSync(join(root, file), 'utf8')
        .split('\n')
        .filter(line => byName.test(line))
        .map(line => `${file}: ${line.trim()}`),
    );
  assert.deepEqual(found, []);
});
