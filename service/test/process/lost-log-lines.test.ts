import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { describe, it, type TestContext } from 'node:test';
import { Client } from '../support/client.ts';
import { scrape } from '../support/metrics.ts';
import { bareEnvironment, dataDirectory, listening, start } from '../support/service-process.ts';
import { smallDisk } from '../support/small-disk.ts';
import { inTime, until } from '../support/until.ts';

const main = join(import.meta.dirname, '../../src/main.ts');

const LOST = 'petstore_log_lines_lost_total';

interface Service {
  child: ChildProcess;
  api: Client;
  linesLost: () => Promise<number>;
  /** Stops the service. Returns its exit code. */
  end: () => Promise<number | null>;
}

/** Starts `serve` with its log in a file or pipe of the test. Its welcome message contains the address. */
async function serve(t: TestContext, stdout: number | 'pipe'): Promise<Service> {
  const directory = dataDirectory(t);
  const child = spawn(process.execPath, [main, 'serve'], {
    env: {
      ...bareEnvironment(),
      PORT: '0',
      OPS_PORT: '0',
      PETSTORE_DATA: directory,
      PETSTORE_DRAIN_SECONDS: '0',
    },
    stdio: ['ignore', stdout, 'pipe'],
  });
  const exited = once(child, 'exit');
  t.after(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  const welcome = await outputUntil(child.stderr!, /Try it:/);
  const secret = readFileSync(join(directory, 'admin.key'), 'utf8').trim();
  const api = new Client(/Address +(\S+)/.exec(welcome)![1]!, secret);
  t.after(() => api.close());
  const metricsUrl = /Metrics +(\S+)/.exec(welcome)![1]!;
  return {
    child,
    api,
    linesLost: async () => (await scrape(metricsUrl)).total(LOST, {}),
    end: async () => {
      child.kill('SIGTERM');
      const [code] = await exited;
      return code;
    },
  };
}

/** The output of a stream up to a pattern. */
async function outputUntil(stream: Readable, pattern: RegExp): Promise<string> {
  let output = '';
  stream.setEncoding('utf8').on('data', part => {
    output += part;
  });
  while (!pattern.test(output)) {
    if (stream.readableEnded) throw new Error(`The output ended without ${pattern}: ${output}`);
    await inTime(`${pattern}`, Promise.race([once(stream, 'data'), once(stream, 'end')]));
  }
  return output;
}

async function assertServes(api: Client, requests: number): Promise<void> {
  for (let i = 0; i < requests; i++) assert.equal((await api.get('/pets')).status, 200);
}

interface LogLine {
  msg: string;
  level: number;
  lost?: number;
  reason?: string;
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
    const file = openSync(logFile, 'a');
    const { api, linesLost, end } = await serve(t, file);
    t.after(disk.remove);
    closeSync(file);
    await assertServes(api, 10);
    await until('the log is written', () => readFileSync(logFile, 'utf8').includes('"path":"/pets"'));
    disk.fill();
    // The last page of the log has room left, so some lines are written partially.
    await assertServes(api, 100);
    await until('lines are lost', async () => (await linesLost()) > 0);
    await assertServes(api, 10);
    disk.makeRoom();
    await until('the loss is reported', () => readFileSync(logFile, 'utf8').includes('Log lines were lost'));
    await assertServes(api, 5);
    const lost = await linesLost();
    assert.equal(await end(), 0);

    const lines = parsed(readFileSync(logFile, 'utf8'));
    const reports = lines.filter(({ msg }) => msg === 'Log lines were lost');
    assert.equal(reports[0]!.level, 40);
    assert.match(reports[0]!.reason!, /ENOSPC: no space left on device/);
    const reported = reports.reduce((sum, report) => sum + report.lost!, 0);
    assert.equal(reported, lost);
    assert.equal(count(lines, 'Request') + lost, 125);
  });

  it('is a closed pipe serves, counts the lost lines, and exits 0', async t => {
    const { child, api, linesLost, end } = await serve(t, 'pipe');
    child.stdout!.destroy();
    await assertServes(api, 10);
    await until('lines are lost', async () => (await linesLost()) >= 10);
    await assertServes(api, 1);
    assert.equal(await end(), 0);
  });

  it('is a pipe that stops being read serves, and loses nothing when it is read again', async t => {
    const { child, api, linesLost, end } = await serve(t, 'pipe');
    child.stdout!.pause();
    // Several times the size of a pipe and the buffers on both sides of it.
    const userAgent = 'x '.repeat(128);
    for (let i = 0; i < 1_000; i++) await api.get('/healthz', { 'user-agent': userAgent });
    await assertServes(api, 1);
    assert.equal(await linesLost(), 0);
    let log = '';
    child
      .stdout!.setEncoding('utf8')
      .on('data', part => {
        log += part;
      })
      .resume();
    // At its end, the service waits for a reader for a second only.
    await until('the last request is logged', () => /"path":"\/pets".*\n$/.test(log));
    assert.equal(count(parsed(log), 'Request'), 1_001);
    assert.equal(await end(), 0);
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
