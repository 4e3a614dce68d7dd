import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { before, describe, it, type TestContext } from 'node:test';
import { freePort } from '../../../scripts/servers/ports.ts';
import { haveEnded, withDescendants } from '../../../scripts/servers/processes.ts';
import { Client } from '../support/client.ts';
import { buildConsole } from '../support/console-page.ts';
import { aPet } from '../support/factories.ts';
import { run, start } from '../support/service-process.ts';
import { until } from '../support/until.ts';

const script = join(import.meta.dirname, '../../../scripts/start-replicas.ts');

/** The output of the script so far. */
class Output {
  text = '';
  readonly #child: ChildProcess;

  constructor(child: ChildProcess) {
    this.#child = child;
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.setEncoding('utf8').on('data', text => {
        this.text += text;
      });
    }
  }

  async matching(pattern: RegExp): Promise<RegExpExecArray> {
    const isPrinted = () => {
      if (pattern.test(this.text)) return true;
      if (this.#child.exitCode !== null) throw new Error(`It ended without ${pattern}: ${this.text}`);
      return false;
    };
    await until(`${pattern} is printed`, isPrinted);
    return pattern.exec(this.text)!;
  }
}

/** Starts replicas. Returns their output and what belongs to them. */
async function startReplicas(t: TestContext, count: number) {
  // They have no effect: each replica needs a port of its own, and all of them the temporary servers.
  const OPS_PORT = String(await freePort());
  const ofShell = {
    OPS_PORT,
    DATABASE_URL: 'postgres://shop@127.0.0.1:1/shop',
    DATABASE_URL_FILE: '/missing/database-url',
    REDIS_URL: 'redis://127.0.0.1:1',
    REDIS_URL_FILE: '/missing/redis-url',
  };
  const { child, ended } = start(t, [String(count)], { PORT: '0', ...ofShell }, script);
  const output = new Output(child);
  const [, url] = await output.matching(/Address {4}(\S+)/);
  const [, keyFile] = await output.matching(/Admin key {2}in (\S+)\n[\s\S]*\n$/);
  assert.doesNotMatch(output.text, /psk_/, 'no secret is printed, because the output is not a terminal');
  const key = readFileSync(keyFile!, 'utf8').trim();
  const pids = [...output.text.matchAll(/http:\S+ {2}process (\d+)/g)].map(([, pid]) => Number(pid));
  const metrics = [...output.text.matchAll(/metrics (http:\S+)/g)].map(([, url]) => url!);
  const api = new Client(url!, key);
  t.after(() => api.close());
  assert.ok(metrics.every(url => new URL(url).port !== OPS_PORT));
  return { child, output, ended, api, pids, metrics, directory: dirname(keyFile!) };
}

function statusesOf(urls: readonly string[]): Promise<number[]> {
  return Promise.all(urls.map(async url => (await fetch(url)).status));
}

describe('start:replicas', () => {
  before(buildConsole);

  it('serves one shop from all replicas, even while one is stopped, and restarts that one', async t => {
    const { child, output, ended, api, pids, metrics, directory } = await startReplicas(t, 2);
    assert.equal(pids.length, 2);
    assert.equal(new Set(metrics).size, 2);
    assert.deepEqual(await statusesOf(metrics), [200, 200]);
    const petId = await aPet(api);
    const readMany = async (times: number) => {
      for (let i = 0; i < times; i++) assert.equal((await api.get(`/pets?id=${petId}`)).body[0].id, petId);
    };
    await readMany(20);
    const [, page] = await output.matching(/Console {4}(\S+)/);
    assert.deepEqual(await statusesOf([page!]), [200]);

    const [first, second] = pids as [number, number];
    process.kill(first, 'SIGKILL');
    await output.matching(new RegExp(`Replica 1: process ${first} ended`));
    // The balancer may not have ended the connection to that process yet.
    api.close();
    await readMany(50);
    await aPet(api);
    const [, restarted] = await output.matching(/Replica 1 is back: process (\d+)/);
    assert.deepEqual(await statusesOf(metrics), [200, 200], 'on the same ports as before');
    // Now only the restarted replica can respond.
    process.kill(second, 'SIGKILL');
    await output.matching(new RegExp(`Replica 2: process ${second} ended`));
    api.close();
    await readMany(20);

    const processes = withDescendants(child.pid!);
    assert.ok(processes.includes(Number(restarted)));
    child.kill('SIGINT');
    assert.equal((await ended).code, 0);
    assert.ok(await haveEnded(processes, 0));
    assert.ok(!existsSync(directory));
  });

  it('leaves no process behind when it is killed', async t => {
    const { child, directory, ended } = await startReplicas(t, 1);
    const processes = withDescendants(child.pid!);
    assert.ok(processes.length > 6);
    child.kill('SIGKILL');
    await ended;
    assert.ok(await haveEnded(processes, 60_000));
    assert.ok(!existsSync(directory));
  });

  for (const count of ['0', '17', 'many']) {
    it(`rejects ${count}`, async t => {
      const { code, stderr } = await run(t, [count], {}, script);
      assert.equal(code, 2);
      assert.match(stderr, new RegExp(`whole number from 1 to 16 .*was given "${count}"\n$`));
    });
  }
});
