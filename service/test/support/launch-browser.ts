import { type Browser, chromium } from 'playwright-core';
import { findChromium, howToGetChromium } from './chromium.ts';

export async function launchBrowser(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error(howToGetChromium);
  return chromium.launch({
    executablePath,
    // Chromium's sandbox does not work for root.
    chromiumSandbox: process.getuid?.() !== 0,
    // A request that leaves the machine fails, and is recorded.
    args: ['--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'],
  });
}
