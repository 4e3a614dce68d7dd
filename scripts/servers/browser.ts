import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { findChromium, howToGetChromium } from '../../service/test/support/chromium.ts';
import { ServerProcess } from './server-process.ts';

export interface SharedBrowser {
  /** GET returns the WebSocket address of the browser, or 503 with the reason why there is none. */
  url: string;
  stop(): Promise<void>;
}

/**
 * Offers one browser to all test files of a run. It starts with the first request for it, so that a run without browser
 * tests neither needs Chromium nor waits for it. It never outlives this process.
 */
export async function offerBrowser(): Promise<SharedBrowser> {
  let started: Promise<RunningBrowser> | undefined;
  const server = createServer(async (_, response) => {
    // A connection that stays open would keep the process of a test file alive.
    response.setHeader('connection', 'close');
    try {
      started ??= startBrowser();
      response.end((await started).address);
    } catch (error) {
      response.writeHead(503).end((error as Error).message);
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.close();
      const [start] = await Promise.allSettled([started]);
      if (start.status === 'fulfilled') await start.value?.process.close();
    },
  };
}

interface RunningBrowser {
  process: ServerProcess;
  address: string;
}

async function startBrowser(): Promise<RunningBrowser> {
  if (findChromium() === undefined) throw new Error(howToGetChromium);
  const browser = new ServerProcess('browser');
  const { directory } = browser;
  const addressFile = join(directory, 'address');
  try {
    const program = join(import.meta.dirname, 'browser-program.ts');
    // The browser's profile is in TMPDIR, which is removed even after a crash.
    const env = { ...process.env, TMPDIR: directory };
    browser.start(process.execPath, [program, addressFile], { cwd: directory, env });
    await browser.untilReady('Chromium', async () => existsSync(addressFile));
    return { process: browser, address: readFileSync(addressFile, 'utf8') };
  } catch (error) {
    await browser.close();
    throw error;
  }
}
