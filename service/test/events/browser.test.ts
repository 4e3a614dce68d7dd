import assert from 'node:assert/strict';
import { createServer, request, type ServerResponse } from 'node:http';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { assertGapless, settledCursor } from '../support/event-log.ts';
import { aCategory } from '../support/factories.ts';
import { openBrowser } from '../support/launch-browser.ts';
import { listenLocally } from '../support/local-server.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';

const page = `<!doctype html><title>Shop</title><script>
  window.seen = [];
  window.opened = 0;
  const source = new EventSource('/stream?cursor=' + new URLSearchParams(location.search).get('cursor'));
  source.onopen = () => window.opened++;
  source.addEventListener('category.created', ({ lastEventId, data }) =>
    seen.push([Number(lastEventId), JSON.parse(data).data.name]));
</script>`;

/** The backend of a web shop: serves its page, and forwards the stream with the API key that the page must not have. */
function backend({ origin, adminKey }: TestApp) {
  const open = new Set<ServerResponse>();
  const server = createServer((incoming, response) => {
    if (!incoming.url!.startsWith('/stream')) {
      response.writeHead(200, { 'content-type': 'text/html' }).end(page);
      return;
    }
    const lastEventId = incoming.headers['last-event-id'];
    const query = incoming.url!.slice('/stream'.length);
    const headers = { 'x-api-key': adminKey, ...(lastEventId && { 'last-event-id': String(lastEventId) }) };
    const passed = request(`${origin}/events/stream${query}`, { agent: false, headers }, upstream => {
      response.writeHead(upstream.statusCode!, { 'content-type': 'text/event-stream' });
      upstream.on('error', () => {});
      upstream.pipe(response);
    });
    passed.on('error', () => {});
    passed.end();
    open.add(response);
    response.on('close', () => {
      open.delete(response);
      passed.destroy();
    });
  });
  return {
    server,
    /** Cuts every stream, in the middle of any message. */
    cut: () => {
      for (const response of open) response.destroy();
    },
  };
}

it('a browser’s EventSource that is cut off again and again continues where it stopped, and gets every event once', async t => {
  const shop = await startTestApp(t, { alone: false });
  const end = Number(await settledCursor(shop));
  const { server, cut } = backend(shop);
  const url = await listenLocally(t, server);
  const browser = await openBrowser();
  try {
    const tab = await browser.newPage();
    await tab.goto(`${url}/?cursor=${end}`);
    await tab.waitForFunction('opened === 1');
    const names = Array.from({ length: 40 }, (_, i) => `Category no. ${i}`);
    const writing = (async () => {
      for (const name of names) {
        await aCategory(shop.api, { name });
        await sleep(150);
      }
    })();
    for (let i = 0; i < 2; i++) {
      await sleep(700);
      cut();
      await tab.waitForFunction(`opened === ${i + 2}`);
    }
    await writing;
    await tab.waitForFunction(`seen.length >= ${names.length}`);
    await sleep(300);
    const seen: [number, string][] = await tab.evaluate('seen');
    assert.deepEqual(
      seen.map(([, name]) => name),
      names,
    );
    assertGapless(
      seen.map(([id]) => id),
      end + 1,
    );
  } finally {
    await browser.close();
  }
});
