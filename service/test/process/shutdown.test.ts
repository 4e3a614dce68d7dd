import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type ClientRequest, request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import BetterSqlite3 from 'better-sqlite3';
import { Client } from '../support/client.ts';
import { aCategory } from '../support/factories.ts';
import { dataDirectory, type Ended, type ServiceProcess, serve } from '../support/service-process.ts';
import { inTime, until } from '../support/until.ts';

const CLIENTS = 16;

/** Slows the clock of a service to a hundredth: on a busy machine, more than a second can pass between two signals. */
const SLOW_CLOCK = `--import data:text/javascript,${encodeURIComponent(
  'const now = performance.now.bind(performance); performance.now = () => now() / 100;',
)}`;

/** Creates pets one after another until the service accepts no more. */
class Load {
  readonly acknowledged: string[] = [];
  readonly #api: Client;
  readonly #categoryId: number;
  #sent = 0;
  /** Requests sent before the signal; each must get its response. */
  #before = Number.POSITIVE_INFINITY;

  constructor(api: Client, categoryId: number) {
    this.#api = api;
    this.#categoryId = categoryId;
  }

  signalled(): void {
    this.#before = this.#sent;
  }

  async run(): Promise<void> {
    await Promise.all(Array.from({ length: CLIENTS }, () => this.#createPets()));
  }

  async #createPets(): Promise<void> {
    for (;;) {
      const number = ++this.#sent;
      const name = `Pet ${number}`;
      try {
        const { status, text } = await this.#api.post('/pets', { name, categoryId: this.#categoryId });
        assert.equal(status, 201, text);
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        assert.ok(number > this.#before, `a request in flight got no response: ${error}`);
        assert.match(String(code), /^(ECONNREFUSED|ECONNRESET|EPIPE)$/);
        return;
      }
      this.acknowledged.push(name);
    }
  }
}

/** Sends the head of a request. Resolves when the service waits for the body. */
async function startRequest({ url, adminKey }: ServiceProcess): Promise<ClientRequest> {
  const request = httpRequest(`${url}/categories`, {
    agent: false,
    method: 'POST',
    headers: {
      'x-api-key': adminKey,
      'content-type': 'application/json',
      'transfer-encoding': 'chunked',
      expect: '100-continue',
    },
  });
  request.flushHeaders();
  await inTime('the response 100 Continue', once(request, 'continue'));
  return request;
}

/** Sends a signal. Resolves when the service has ended. */
function ended(service: ServiceProcess, signal: NodeJS.Signals): Promise<Ended> {
  return inTime(`the end of the service after ${signal}`, service.end(signal));
}

it('SIGTERM under load lets every request in flight finish, accepts no new ones, and exits 0 with all data stored', async t => {
  const directory = dataDirectory(t);
  const service = await serve(t, directory);
  const { api } = service;
  const load = new Load(api, await aCategory(api));
  const stopped = load.run();
  await until('200 requests have their response', () => load.acknowledged.length >= 200);

  load.signalled();
  const { code, stdout, stderr } = await ended(service, 'SIGTERM');
  await inTime('the end of the last request', stopped);

  assert.equal(code, 0, stderr);
  assert.doesNotMatch(stdout, /cut off/);
  await assert.rejects(api.get('/healthz'), { code: 'ECONNREFUSED' });
  const db = new BetterSqlite3(join(directory, 'petstore.db'), { readonly: true });
  t.after(() => db.close());
  assert.deepEqual(db.prepare('SELECT name FROM pets').pluck().all().sort(), load.acknowledged.sort());
  t.diagnostic(`${load.acknowledged.length} pets, each acknowledged`);

  const next = await serve(t, directory);
  assert.equal((await next.api.get('/pets?limit=1')).status, 200);
  assert.equal((await ended(next, 'SIGINT')).code, 0);
});

describe('SIGTERM', () => {
  it('gives a request that never ends no longer than PETSTORE_SHUTDOWN_SECONDS', async t => {
    const service = await serve(t, dataDirectory(t), { PETSTORE_SHUTDOWN_SECONDS: '0' });
    const request = await startRequest(service);
    request.on('error', () => {});
    const { code, stdout } = await ended(service, 'SIGTERM');
    assert.equal(code, 0);
    assert.match(stdout, /Requests still in flight were cut off/);
  });

  it('sent twice, as npm and the terminal both do, still lets requests in flight finish', async t => {
    const service = await serve(t, dataDirectory(t), {
      PETSTORE_DRAIN_SECONDS: '600',
      PETSTORE_SHUTDOWN_SECONDS: '0',
      NODE_OPTIONS: SLOW_CLOCK,
    });
    const request = await startRequest(service);

    const get = async (path: string) => {
      const api = new Client(service.url);
      return (await api.get(path).finally(() => api.close())).status;
    };
    // The system would merge two signals sent at the same instant.
    service.child.kill('SIGINT');
    await until('/readyz is 503', async () => (await get('/readyz')) === 503);
    service.child.kill('SIGINT');
    // If the second signal had ended the drain, the service would stop listening and cut off the request.
    for (let i = 0; i < 20; i++) assert.equal(await get('/healthz'), 200);
    request.end('{"name":"Dogs"}');
    const [response] = await inTime('the response', once(request, 'response'));
    assert.equal(response.statusCode, 201);
    response.resume();

    const { code, stdout } = await ended(service, 'SIGTERM');
    assert.equal(code, 0);
    assert.equal(stdout.match(/"Shutting down"/g)?.length, 1);
    assert.doesNotMatch(stdout, /cut off/);
  });
});

/** A service that has counts to store, and a store that another program has locked. */
async function lockedService(t: TestContext, environment: Record<string, string>): Promise<ServiceProcess> {
  const directory = dataDirectory(t);
  const service = await serve(t, directory, environment);
  service.expectErrors(/"Shutdown failed"/);
  const other = new BetterSqlite3(join(directory, 'petstore.db'));
  t.after(() => other.close());
  other.exec('BEGIN IMMEDIATE');
  // This request is counted after the lock, and its connection stays open, idle.
  assert.equal((await service.api.get('/pets')).status, 200);
  return service;
}

describe('a failed shutdown', () => {
  it('logs the reason and exits 1, without waiting for PETSTORE_SHUTDOWN_SECONDS', async t => {
    const service = await lockedService(t, { PETSTORE_SHUTDOWN_SECONDS: '600' });
    const { code, stdout } = await ended(service, 'SIGTERM');
    assert.equal(code, 1, stdout);
    const lines = stdout
      .trim()
      .split('\n')
      .map(line => JSON.parse(line));
    const failure = lines.find(({ msg }) => msg === 'Shutdown failed');
    assert.equal(failure?.level, 60, stdout);
    assert.match(JSON.stringify(failure.err), /The last counts could not be stored/);
    assert.doesNotMatch(stdout, /cut off/);
  });

  it('exits 1 even when a second signal ends the drain', async t => {
    const service = await lockedService(t, {
      PETSTORE_DRAIN_SECONDS: '600',
      PETSTORE_SHUTDOWN_SECONDS: '600',
    });
    service.child.kill('SIGTERM');
    await until('/readyz is 503', async () => (await service.api.get('/readyz')).status === 503);
    const { code, stdout } = await ended(service, 'SIGINT');
    assert.equal(code, 1, stdout);
    assert.match(stdout, /"msg":"Shutdown failed"/);
  });
});
