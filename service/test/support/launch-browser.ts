import { type Browser, type BrowserServer, chromium, type LaunchOptions } from 'playwright-core';
import { findChromium, howToGetChromium } from './chromium.ts';

/**
 * A browser for a test file: a connection to the one that `scripts/with-servers.ts` offers to the whole run, or a new
 * Chromium when none is offered. `close` ends the connection and its contexts, or the new Chromium.
 */
export async function openBrowser(): Promise<Browser> {
  const { TEST_BROWSER_URL: offer } = process.env;
  if (offer === undefined) return chromium.launch(launchOptions());
  const response = await fetch(offer);
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return chromium.connect(text);
}

/** A Chromium that several processes can connect to. It ends with this process at the latest. */
export async function launchBrowserServer(): Promise<BrowserServer> {
  return chromium.launchServer({ ...launchOptions(), host: '127.0.0.1' });
}

function launchOptions(): LaunchOptions {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error(howToGetChromium);
  return {
    executablePath,
    // Chromium's sandbox does not work for root.
    chromiumSandbox: process.getuid?.() !== 0,
    // A request to another machine fails, and the test records it.
    args: ['--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'],
  };
}
