import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Client } from '../support/client.ts';
import { scrape } from '../support/metrics.ts';
import { bareEnvironment, dataDirectory, listening, serve, start } from '../support/service-process.ts';
import { smallDisk } from '../support/small-disk.ts';
import { until } from '../support/until.ts';

const main = join(import.meta.dirname, '../../src/main.ts');

async function linesLost(metricsUrl: string | undefined): Promise<number> {
  return (await scrape(metricsUrl)).total('petstore_log_lines_lost_total');
}

async function assertServes(api: Client, requests: number): Promise<void> {
  for (let i = 0; i < requests; i++) assert.equal((await api.get('/pets')).status, 200);
}

interface LogLine {
  msg: string;
  level: number;
  lost?: number;
  reason?: string;
  url?: string;
  metricsUrl?: string;
}

/** Every line is complete JSON. */
function parsed(log: string): LogLine[] {
  assert.ok(log.endsWith('\n'));
  return log
    .slice(0, -1)
    .split('\n')
    .map(line => JSON.parse(line));
}

function count(lines: readonly LogLine[], msg: string): number {
  return lines.filter(line => line.msg === msg).length;
}

describe('a service whose log', () => {
  it('is on a full disk serves, counts the lost lines, and reports them when the disk has room', async t => {
    const disk = smallDisk(1_000_000);
    const logFile = join(disk.directory, 'petstore.log');
    const written = () => readFileSync(logFile, 'utf8');
    const file = openSync(logFile, 'a');
    const directory = dataDirectory(t);
    const settings = { PORT: '0', OPS_PORT: '0', PETSTORE_DATA: directory, PETSTORE_DRAIN_SECONDS: '0' };
    const child = spawn(process.execPath, [main, 'serve'], {
      env: { ...bareEnvironment(), ...settings },
      stdio: ['ignore', file, 'ignore'],
    });
    closeSync(file);
    const exited = once(child, 'exit');
    t.after(async () => {
      child.kill('SIGKILL');
      await exited;
      disk.remove();
    });
    await until('it listens', () => written().includes('"msg":"Listening"'));
    const { url, metricsUrl } = parsed(written()).find(({ msg }) => msg === 'Listening')!;
    const api = new Client(url!, readFileSync(join(directory, 'admin.key'), 'utf8').trim());
    t.after(() => api.close());
    await assertServes(api, 10);
    await until('the log is written', () => written().includes('"path":"/pets"'));
    disk.fill();
    // The last page of the log has room left, so some lines are written partially.
    await assertServes(api, 100);
    await until('lines are lost', async () => (await linesLost(metricsUrl)) > 0);
    await assertServes(api, 10);
    disk.makeRoom();
    await until('the loss is reported', () => written().includes('Log lines were lost'));
    await assertServes(api, 5);
    const lost = await linesLost(metricsUrl);
    child.kill('SIGTERM');
    assert.deepEqual(await exited, [0, null]);

    const lines = parsed(written());
    const reports = lines.filter(({ msg }) => msg === 'Log lines were lost');
    assert.equal(reports[0]!.level, 40);
    assert.match(reports[0]!.reason!, /ENOSPC: no space left on device/);
    const reported = reports.reduce((sum, report) => sum + report.lost!, 0);
    assert.equal(reported, lost);
    assert.equal(count(lines, 'Request') + lost, 125);
  });

  it('is a closed pipe serves, counts the lost lines, and exits 0', async t => {
    const { child, api, metricsUrl, end } = await serve(t, dataDirectory(t), { OPS_PORT: '0' });
    child.stdout!.destroy();
    await assertServes(api, 10);
    await until('lines are lost', async () => (await linesLost(metricsUrl)) >= 10);
    await assertServes(api, 1);
    assert.equal((await end('SIGTERM')).code, 0);
  });

  it('is a pipe that stops being read serves, and loses nothing when it is read again', async t => {
    const { child, api, metricsUrl, end } = await serve(t, dataDirectory(t), { OPS_PORT: '0' });
    child.stdout!.pause();
    // Several times the size of a pipe and the buffers on both sides of it.
    const userAgent = 'x '.repeat(128);
    for (let i = 0; i < 1_000; i++) await api.get('/healthz', { 'user-agent': userAgent });
    await assertServes(api, 1);
    assert.equal(await linesLost(metricsUrl), 0);
    let log = '';
    child.stdout!.on('data', part => {
      log += part;
    });
    child.stdout!.resume();
    // At its end, the service waits for a reader for a second only.
    await until('the last request is logged', () => /"path":"\/pets".*\n$/.test(log));
    assert.equal(count(parsed(log), 'Request'), 1_001);
    assert.equal((await end('SIGTERM')).code, 0);
  });
});

it('a service whose standard error is closed starts, serves, and exits 0', async t => {
  const settings = { PORT: '0', PETSTORE_DATA: dataDirectory(t), PETSTORE_DRAIN_SECONDS: '0' };
  const service = start(t, ['serve'], settings);
  service.child.stderr!.destroy();
  const { url } = await listening(service.child);
  assert.equal((await fetch(`${url}/healthz`)).status, 200);
  const { code, stdout } = await service.end('SIGTERM');
  assert.equal(code, 0);
  assert.match(stdout, /Standard error cannot be written/);
});

it('a service that cannot read what its welcome text shows serves, and exits 0', async t => {
  const directory = dataDirectory(t);
  const settings = { PORT: '0', PETSTORE_DATA: directory, PETSTORE_DRAIN_SECONDS: '0' };
  const serveOnce = async () => {
    const service = start(t, ['serve'], settings);
    const { url } = await listening(service.child);
    assert.equal((await fetch(`${url}/healthz`)).status, 200);
    return service.end('SIGTERM');
  };
  assert.equal((await serveOnce()).code, 0);
  const keyFile = join(directory, 'admin.key');
  rmSync(keyFile);
  mkdirSync(keyFile);
  const { code, stdout } = await serveOnce();
  assert.equal(code, 0);
  assert.match(stdout, /"reason":"EISDIR.*The welcome text cannot be shown/);
});
