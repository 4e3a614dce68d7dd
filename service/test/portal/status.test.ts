import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { DatabaseUnavailable } from '../../src/db/database.ts';
import { SECOND } from '../../src/kit/clock.ts';
import { root } from '../support/deploy-files.ts';
import { failDisk } from '../support/failing-disk.ts';
import { fetchBytes } from '../support/fetch-bytes.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { until } from '../support/until.ts';

const liveSources = ['/docs/status', '/docs/status.md', '/docs', '/docs.md', '/llms-full.txt'];

async function assertShown({ origin }: TestApp, sentence: string, problem = ''): Promise<void> {
  for (const path of liveSources) {
    const { status, text } = await fetchBytes(origin + path);
    assert.equal(status, 200, path);
    assert.ok(text.includes(sentence), `${path} lacks: ${sentence}`);
    if (path.startsWith('/docs/status')) assert.ok(text.includes(problem), `${path} lacks: ${problem}`);
  }
}

it('the status page, the start page and their Markdown show the state of the service at the time of the request', async t => {
  const shop = await startTestApp(t, { shared: false });
  await assertShown(shop, 'The service works.');
  const end = failDisk(shop.directory, 'writes');
  shop.clock.advance(5 * SECOND);
  // A response waits for the probe of the store for at most half a second of real time, and then has the state before it.
  await until('the problem is known', async () => (await shop.api.get('/readyz')).body.status === 'degraded');
  const { message } = (await shop.api.get('/readyz')).body;
  assert.match(message, /writes get 503/);
  await assertShown(shop, 'The service works, with a problem.', message);
  end();
  shop.clock.advance(5 * SECOND);
  await until('the status page shows the recovery', async () => {
    const { text } = await fetchBytes(`${shop.origin}/docs/status`);
    return text.includes('The service works.');
  });
  await assertShown(shop, 'The service works.');
  const { mock } = t.mock.method(shop.app.db, 'get', () =>
    Promise.reject(new DatabaseUnavailable(undefined, 'busy')),
  );
  const unavailable = (await shop.api.get('/readyz')).body;
  assert.equal(unavailable.status, 503);
  await assertShown(shop, 'The service is unavailable at the moment.', unavailable.message);
  mock.restore();
  await assertShown(shop, 'The service works.');
  shop.app.drain.begin();
  await assertShown(shop, 'The service is unavailable at the moment.', 'The replica is stopping');
});

it('no other page reads the store, which may hang when an operator needs the page', async t => {
  const { app, origin } = await startTestApp(t);
  const summary = (await fetchBytes(`${origin}/llms.txt`)).text;
  const pages = [...summary.matchAll(/\((\/docs[^)]*)\.md\)/g)].map(([, path]) => path!);
  const others = pages.flatMap(path => [path, `${path}.md`]).filter(path => !liveSources.includes(path));
  const { mock } = t.mock.method(app.db, 'get');
  for (const path of others) assert.equal((await fetchBytes(origin + path)).status, 200, path);
  assert.ok(others.length > 160);
  assert.equal(mock.calls.filter(call => call.arguments[0].includes('schema_migrations')).length, 0);
});

it('the changelog is a page and Markdown, with every entry of the file', async t => {
  const { origin } = await startTestApp(t);
  const file = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  const { text: markdown } = await fetchBytes(`${origin}/docs/changelog.md`);
  const { text: page } = await fetchBytes(`${origin}/docs/changelog`);
  assert.match(markdown, /^# Changelog\n/);
  const entries = file.match(/^- /gm)!.length;
  assert.ok(entries > 40);
  assert.equal(markdown.match(/^- /gm)!.length, entries);
  assert.equal(page.split('<main')[1]!.match(/<li>/g)!.length, entries);
  assert.ok(page.includes('<h2 id="100-unreleased">'));
});
