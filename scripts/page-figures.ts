// Measures the portal and the console in a service of its own: how soon a page is readable and usable in an empty browser, what it
// transfers, and the longest turn of the service's event loop while it serves the first page of the portal.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { buildConsole } from '../service/test/support/console-page.ts';
import { openBrowser } from '../service/test/support/launch-browser.ts';

const root = dirname(import.meta.dirname);
const VISITS = 7;
/** The pages, and what each has when it is usable: the form of an operation works, the console shows its data. */
const pages: Record<string, string> = {
  '/docs': 'body[data-ready]',
  '/docs/operations/createPet': 'body[data-ready]',
  '/docs/operations/listEvents': 'body[data-ready]',
  '/docs/guide/recipes': 'body[data-ready]',
  '/docs/errors': 'body[data-ready]',
  '/console': '.figure strong:not(:text("–"))',
  '/console/animals': '[role="row"][data-index]',
  '/console/orders': '[role="row"][data-index]',
  '/console/keys': '[role="row"][data-index]',
};

/** When a page is readable and usable, in milliseconds after the navigation, and how much it transfers. */
interface Visit {
  readable: number;
  usable: number;
  bytes: number;
}

/**
 * Runs in the service: at SIGUSR2 it prints the longest turn of the event loop since the last one and the resident memory. Turns are
 * measured in processor time of the thread, because other work on the machine does not change it.
 */
const probe = `data:text/javascript,${encodeURIComponent(`
  let longest = 0;
  let before = process.threadCpuUsage();
  function measure() {
    const { user, system } = process.threadCpuUsage(before);
    longest = Math.max(longest, (user + system) / 1000);
    before = process.threadCpuUsage();
    setImmediate(measure).unref();
  }
  measure();
  process.on('SIGUSR2', () => {
    const memory = Math.round(process.memoryUsage.rss() / 2 ** 20);
    console.log(JSON.stringify({ probe: { turn: longest, memory } }));
    longest = 0;
  });
`)}`;

buildConsole();
const directory = mkdtempSync(join(tmpdir(), 'petstore-portal-'));
const service = spawn(
  process.execPath,
  ['--import', probe, join(root, 'service/src/main.ts'), 'serve', '--demo'],
  {
    env: { PATH: process.env.PATH, PORT: '0', PETSTORE_DRAIN_SECONDS: '0', PETSTORE_DATA: directory },
    stdio: ['ignore', 'pipe', 'inherit'],
  },
);
const lines = createInterface({ input: service.stdout })[Symbol.asyncIterator]();
const ended = once(service, 'close');
try {
  const { url: baseURL } = await lineWith('url');
  await measured('start');
  await measured('idle');
  await (await fetch(`${baseURL}/healthz`)).text();
  await measured('first request, without the portal');
  await (await fetch(`${baseURL}/docs/operations/createPet`)).text();
  await measured('first page of the portal');
  const browser = await openBrowser();
  const key = readFileSync(join(directory, 'admin.key'), 'utf8').trim();
  for (const [path, usable] of Object.entries(pages)) {
    const visits: Visit[] = [];
    for (let i = 0; i < VISITS; i++) {
      const page = await browser.newPage({ baseURL, viewport: { width: 1280, height: 900 } });
      await page.addInitScript(key => sessionStorage.setItem('petstore.console.key', key), key);
      await page.goto(path, { waitUntil: 'commit' });
      await page.locator(usable).first().waitFor({ state: 'attached' });
      visits.push(
        await page.evaluate<Visit>(`(() => {
          const now = performance.now();
          const entries = performance.getEntries();
          // The modules of the portal have run then.
          const loaded = document.body.dataset.ready !== undefined && entries[0].domContentLoadedEventEnd;
          const paint = entries.find(({ name }) => name === 'first-contentful-paint');
          const bytes = entries.reduce((sum, { transferSize = 0 }) => sum + transferSize, 0);
          return { readable: paint?.startTime ?? now, usable: loaded || now, bytes };
        })()`),
      );
      await page.close();
    }
    const median = (name: keyof Visit) =>
      Math.round(visits.map(visit => visit[name]).toSorted((a, b) => a - b)[VISITS >> 1] ?? 0);
    process.stdout.write(
      `${path}: readable after ${median('readable')} ms, usable after ${median('usable')} ms, ${median('bytes')} bytes\n`,
    );
  }
  await browser.close();
  await measured('all pages');
} finally {
  service.kill('SIGTERM');
  await ended;
  rmSync(directory, { recursive: true });
}

async function measured(what: string): Promise<void> {
  service.kill('SIGUSR2');
  const { probe: figures } = await lineWith('probe');
  process.stdout.write(
    `${what}: longest turn ${figures.turn.toFixed(1)} ms, resident memory ${figures.memory} MiB\n`,
  );
}

/** The next line of the service that has a field. */
async function lineWith(field: string) {
  for (;;) {
    const { value, done } = await lines.next();
    if (done) throw new Error('The service ended: its output has the reason');
    const line = JSON.parse(value);
    if (field in line) return line;
  }
}
