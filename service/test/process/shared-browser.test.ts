import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, it } from 'node:test';
import { chromium } from 'playwright-core';
import { offerBrowser } from '../../../scripts/servers/browser.ts';
import { haveEnded, withDescendants } from '../../../scripts/servers/processes.ts';

const program = join(import.meta.dirname, '../../../scripts/servers/browser.ts');

async function addressFrom(url: string): Promise<string> {
  const response = await fetch(url);
  assert.equal(response.status, 200, await response.clone().text());
  return response.text();
}

describe('the browser of a test run', () => {
  it('starts with the first request, serves every connection, and ends with the run', async t => {
    const offer = await offerBrowser();
    t.after(() => offer.stop());
    const before = withDescendants(process.pid);
    const [address, same] = await Promise.all([addressFrom(offer.url), addressFrom(offer.url)]);
    assert.equal(same, address);
    const started = withDescendants(process.pid).filter(pid => !before.includes(pid));
    assert.ok(started.length > 3);

    const [one, other] = await Promise.all([chromium.connect(address), chromium.connect(address)]);
    await one.newPage();
    const page = await other.newPage();
    await one.close();
    assert.equal(await page.evaluate('1 + 1'), 2);
    await other.close();

    await offer.stop();
    assert.ok(await haveEnded(started, 10_000));
  });

  it('ends when the process that offers it is killed', async t => {
    const script = `
      const { offerBrowser } = await import(${JSON.stringify(program)});
      console.log((await offerBrowser()).url);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    t.after(() => child.kill('SIGKILL'));
    const [url] = await once(createInterface({ input: child.stdout }), 'line');
    await addressFrom(url);
    const family = withDescendants(child.pid!);
    assert.ok(family.length > 3);
    child.kill('SIGKILL');
    assert.ok(await haveEnded(family, 20_000));
  });

  it('is reported as missing, with a reason, where Chromium is not installed', async t => {
    const { CHROMIUM } = process.env;
    t.after(() => {
      if (CHROMIUM === undefined) delete process.env.CHROMIUM;
      else process.env.CHROMIUM = CHROMIUM;
    });
    process.env.CHROMIUM = '/no/such/chromium';
    const offer = await offerBrowser();
    t.after(() => offer.stop());
    const response = await fetch(offer.url);
    assert.equal(response.status, 503);
    assert.equal(await response.text(), 'CHROMIUM is "/no/such/chromium", which is not a program');
  });
});
