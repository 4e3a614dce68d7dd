import assert from 'node:assert/strict';
import { once } from 'node:events';
import { globSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it, type TestContext } from 'node:test';
import { RESPONSE_TIMEOUT } from '../../src/events/webhooks/attempt.ts';
import { signatures } from '../../src/events/webhooks/signature.ts';
import { assertGapless, settledCursor } from '../support/event-log.ts';
import { aCategory } from '../support/factories.ts';
import { importClient } from '../support/packed-client.ts';
import { PackedCommand } from '../support/packed-command.ts';
import { Random } from '../support/random.ts';
import { replaceLog } from '../support/restored-log.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { inTime, until } from '../support/until.ts';

const { verifyWebhook } = await importClient();

/** Pauses before another connection are a random time: this makes them short. */
const SHORT_PAUSES = { NODE_OPTIONS: '--import data:text/javascript,Math.random=()=>0.01' };
const NO_CONTENT = 204;

interface Received {
  id: number;
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
}

type Respond = (received: Received, response: ServerResponse) => void;

/** A local program that records what it receives. */
async function startProgram(t: TestContext, respond: Respond = (_, response) => accept(response)) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    const delivery = { id: Number(JSON.parse(body).id), path: request.url!, headers: request.headers, body };
    received.push(delivery);
    respond(delivery, response);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  return { url, received, ids: () => received.map(({ id }) => id) };
}

function accept(response: ServerResponse): void {
  response.writeHead(NO_CONTENT).end();
}

describe('petstore webhooks listen', () => {
  const resources = new AsyncDisposableStack();
  after(() => resources.disposeAsync());
  let shop: TestApp;
  let petstore: PackedCommand;
  let directory: string;

  before(async () => {
    shop = await startTestApp(
      { after: release => resources.defer(release) },
      { alone: false, environment: { PETSTORE_WEBHOOKS_ALLOW_PRIVATE: 'true' } },
    );
  });

  beforeEach(() => {
    const own = mkdtempSync(join(tmpdir(), 'petstore-test-'));
    resources.defer(() => rmSync(own, { recursive: true }));
    directory = own;
    petstore = new PackedCommand({
      PETSTORE_URL: shop.origin,
      PETSTORE_API_KEY: shop.adminKey,
      XDG_CONFIG_HOME: directory,
      HOME: directory,
    });
  });

  /** Starts the command, and waits until it forwards events. It is killed when the test ends. */
  async function listen(t: TestContext, url: string, args: string[] = [], environment = {}) {
    const words = ['webhooks', 'listen', '--forward-to', url, '--json', ...args];
    const child = petstore.start(words, environment);
    t.after(() => child.kill('SIGKILL'));
    let notes = '';
    child.stderr!.on('data', text => {
      notes += text;
    });
    await until('it forwards events', () => notes.includes('Forwarding events after'));
    assert.doesNotMatch(notes, /whsec_/, 'the secret is only shown on a terminal');
    const [, file] = /secret of the deliveries is in (\S+)/.exec(notes)!;
    const { secret } = JSON.parse(readFileSync(file!, 'utf8')) as { secret: string };
    return { child, secret, notes: () => notes, end: () => inTime('the end', child.ended, 20) };
  }

  async function makeEvents(count: number): Promise<void> {
    for (let i = 0; i < count; i++) await aCategory(shop.api);
  }

  it('sends what a webhook of the service gets, signed with the secret whose file it names', async t => {
    const program = await startProgram(t);
    const { url } = program;
    const created = await shop.api.post('/webhooks', { url: url.replace('hook', 'service') });
    const { secret } = await listen(t, url);
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    await shop.api.post('/categories', { name: 'Zoë' }, { traceparent });
    await until('both arrive', () => program.received.length === 2);
    const [local, remote] = program.received.toSorted((a, b) => a.path.localeCompare(b.path));
    assert.equal(local!.body, remote!.body);
    assert.deepEqual(comparable(local!), comparable(remote!));
    assert.equal(local!.headers.traceparent, traceparent);
    const {
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': signature,
    } = local!.headers;
    assert.equal(id, `msg_0_${local!.id}`);
    const message = { id: String(id), timestamp: Number(timestamp), body: local!.body };
    assert.equal(signature, signatures([secret], message));
    assert.equal((await verifyWebhook(local!.headers, local!.body, secret)).type, 'category.created');
    const { RESPONSE_TIMEOUT: timeout } =
      await petstore.load<typeof import('../../../cli/src/delivery.ts')>('delivery.js');
    assert.equal(timeout, RESPONSE_TIMEOUT);
    await shop.api.delete(`/webhooks/${created.body.id}`);
  });

  it('delivers each event once and in order, although the network is cut 20 times', async t => {
    const program = await startProgram(t);
    const proxy = await startProxy(t, shop.origin, 20);
    const first = Number(await settledCursor(shop));
    const { child, end } = await listen(t, program.url, [], { ...SHORT_PAUSES, PETSTORE_URL: proxy.origin });
    proxy.startCutting();
    for (let count = 1; proxy.cuts() < 20; count++) {
      await makeEvents(1);
      await settledCursor(shop);
      assert.ok(count < 2_000, `only ${proxy.cuts()} cuts`);
    }
    await makeEvents(5);
    const last = Number(await settledCursor(shop));
    await until('the last event arrives', () => program.ids().at(-1) === last);
    assertGapless(program.ids(), first + 1);
    child.kill('SIGINT');
    const { code, stdout } = await end();
    assert.equal(code, 130);
    const printed = stdout.trimEnd().split('\n');
    assert.deepEqual(
      printed.map(line => Number(JSON.parse(line).eventId)),
      program.ids(),
    );
  });

  it('continues after `kill -9`; only an event without a response arrives again, with its webhook-id', async t => {
    let isHanging = false;
    const program = await startProgram(t, (_, response) => {
      if (!isHanging) accept(response);
    });
    const first = Number(await settledCursor(shop));
    const { child, secret, end } = await listen(t, program.url);
    await makeEvents(3);
    await until('three events arrive', () => program.ids().length === 3);
    isHanging = true;
    await makeEvents(2);
    await until('the fourth event arrives', () => program.ids().length === 4);
    child.kill('SIGKILL');
    await end();
    isHanging = false;
    const again = await listen(t, program.url);
    assert.equal(again.secret, secret);
    await until('the last event arrives', () => program.ids().at(-1) === first + 5);
    assert.deepEqual(
      program.ids().map(id => id - first),
      [1, 2, 3, 4, 4, 5],
    );
    const [, , , one, other] = program.received;
    assert.equal(one!.headers['webhook-id'], other!.headers['webhook-id']);
    for (const file of globSync('petstore/listen/*', { cwd: directory }))
      assert.equal(statSync(join(directory, file)).mode & 0o777, 0o600, file);
  });

  it('loses no event of the time before its first delivery', async t => {
    const program = await startProgram(t);
    const first = Number(await settledCursor(shop));
    const { child, end } = await listen(t, program.url);
    child.kill('SIGKILL');
    await end();
    await makeEvents(2);
    await listen(t, program.url);
    await until('both arrive', () => program.ids().length === 2);
    assertGapless(program.ids(), first + 1);
  });

  it('notes a problem of the program once, and sends the event until it is accepted', async t => {
    let attempts = 0;
    const program = await startProgram(t, (_, response) => {
      attempts++;
      if (attempts === 1) response.destroy();
      else if (attempts < 4) response.writeHead(302).end();
      else accept(response);
    });
    const first = Number(await settledCursor(shop));
    const { end } = await listen(t, program.url, ['--limit', '2']);
    await makeEvents(2);
    const { code, stdout, stderr } = await end();
    assert.equal(code, 0);
    const [one, two] = stdout.split('\n').map(line => line && JSON.parse(line));
    const { deliveredAt, ...shown } = one;
    assert.ok(Math.abs(Date.parse(deliveredAt) - Date.now()) < 60_000);
    assert.deepEqual(shown, {
      messageId: `msg_0_${first + 1}`,
      eventId: `${first + 1}`,
      type: 'category.created',
      subject: JSON.parse(program.received[0]!.body).subject,
      status: NO_CONTENT,
      attemptCount: 4,
    });
    assert.deepEqual([two.eventId, two.attemptCount], [`${first + 2}`, 1]);
    assert.deepEqual(
      program.ids().map(id => id - first),
      [1, 1, 1, 1, 2],
    );
    const problems = [...stderr.matchAll(/does not accept event \d+ \((.*)\)/g)].map(
      ([, problem]) => problem,
    );
    assert.deepEqual(problems, ['ECONNRESET', 'the status is 302']);
  });

  it('starts after --from, and forwards only --events', async t => {
    const { body } = await shop.api.post('/categories', { name: 'Ferrets' });
    await shop.api.post('/pets', { name: 'Bandit', categoryId: body.id });
    await settledCursor(shop);
    const program = await startProgram(t);
    const args = ['--from', '0', '--events', 'pet.*', '--events', 'order.*', '--limit', '1'];
    const { end } = await listen(t, program.url, args);
    assert.equal((await end()).code, 0);
    assert.equal(JSON.parse(program.received[0]!.body).type, 'pet.created');
  });

  it('ends with Ctrl-C after the response to the last event, which does not arrive again', async t => {
    const held: ServerResponse[] = [];
    const program = await startProgram(t, (_, response) => held.push(response));
    const { child, end, notes } = await listen(t, program.url);
    await makeEvents(2);
    await until('an event arrives', () => held.length === 1);
    child.kill('SIGINT');
    await until('it waits', () => notes().includes('Waiting for the response to event'));
    accept(held[0]!);
    const { code, stdout } = await end();
    assert.equal(code, 130);
    const { eventId } = JSON.parse(stdout);
    const again = await listen(t, program.url);
    await until('the next event arrives', () => held.length === 2);
    assert.deepEqual(program.ids(), [Number(eventId), Number(eventId) + 1]);
    again.child.kill('SIGKILL');
  });

  it('states what to do if the stored position is not in the log', async t => {
    const program = await startProgram(t);
    const { child, end } = await listen(t, program.url);
    child.kill('SIGINT');
    await end();
    for (const file of globSync('petstore/listen/*', { cwd: directory })) {
      const text = readFileSync(join(directory, file), 'utf8');
      writeFileSync(join(directory, file), text.replace(/"cursor": "\d+"/, '"cursor": "999999"'));
    }
    const { code, stderr } = await petstore.run(['webhooks', 'listen', '--forward-to', program.url]);
    assert.equal(code, 2);
    assert.match(
      stderr,
      /The events after 999999 cannot be read: choose another start, such as --from latest/,
    );
  });

  it('reports a restore of the service, and continues with log.restored, as a webhook does', async t => {
    const program = await startProgram(t);
    const { child, end, notes } = await listen(t, program.url, ['--events', 'category.*'], SHORT_PAUSES);
    const survivor = Number(await settledCursor(shop));
    await makeEvents(2);
    await until('the events arrive', () => program.ids().length === 2);
    await replaceLog(shop, survivor);
    await makeEvents(1);
    await until('the next events arrive', () => program.ids().length === 4);
    const [restored, next] = program.received.slice(2).map(({ body }) => JSON.parse(body));
    assert.deepEqual([restored.type, next.type], ['log.restored', 'category.created']);
    assert.equal(restored.data.lastSurvivingId, String(survivor));
    assert.equal(Number(next.id), Number(restored.id) + 1);
    assert.match(
      notes(),
      /The service was restored from a backup, and event \d+ is not part of its log any more/,
    );
    assert.match(notes(), new RegExp(`\\. Continuing after ${survivor} …`));
    child.kill('SIGINT');
    await end();

    // The position that an earlier run stored is lost.
    for (const file of globSync('petstore/listen/*', { cwd: directory })) {
      const text = readFileSync(join(directory, file), 'utf8');
      writeFileSync(join(directory, file), text.replace(/"cursor": "\d+"/, `"cursor": "${survivor + 1}"`));
    }
    const again = await listen(t, program.url, ['--limit', '1']);
    const { stdout } = await again.end();
    assert.equal(JSON.parse(stdout).eventId, restored.id);
    assert.match(again.notes(), new RegExp(`Continuing after ${survivor} …`));

    const tail = await petstore.run(['events', 'tail', '--after', String(survivor + 1)]);
    assert.equal(tail.code, 4);
    assert.match(tail.stderr, new RegExp(`continue with cursor ${survivor}; .* \\(log_restored\\)`));
  });

  it('rejects a URL that it cannot send to', async () => {
    const { code, stderr } = await petstore.run(['webhooks', 'listen', '--forward-to', 'localhost:3000']);
    assert.equal(code, 2);
    assert.match(stderr, /--forward-to: Write a URL such as http:/);
  });
});

/** The headers that do not depend on the webhook, the time and the connection. */
function comparable({ headers }: Received): object {
  const {
    host: _host,
    connection: _connection,
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signature,
    ...rest
  } = headers;
  assert.match(String(id), /^msg_\d+_\d+$/);
  assert.match(String(timestamp), /^\d{10}$/);
  assert.match(String(signature), /^v1,[\w+/]{43}=$/);
  return rest;
}

/** A network in front of the service. From `startCutting` on it cuts each connection after some bytes, 20 of them. */
async function startProxy(t: TestContext, origin: string, most: number) {
  const random = new Random(7);
  const { hostname, port } = new URL(origin);
  const sockets = new Set<Socket>();
  let isCutting = false;
  let cuts = 0;
  const server = createTcpServer(near => {
    const far = connect(Number(port), hostname);
    let left = random.between(1_500, 3_500);
    const cut = () => {
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', cut);
      socket.on('close', cut);
    }
    near.pipe(far);
    far.on('data', chunk => {
      if (!isCutting || cuts === most) {
        near.write(chunk);
        return;
      }
      // The end of an event may be lost.
      near.write(chunk.subarray(0, left));
      left -= chunk.length;
      if (left > 0) return;
      cuts++;
      near.end();
      far.destroy();
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cuts: () => cuts,
    startCutting: () => {
      isCutting = true;
    },
  };
}
