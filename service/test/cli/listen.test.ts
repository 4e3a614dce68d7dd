import assert from 'node:assert/strict';
import { once } from 'node:events';
import { globSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { beforeEach, describe, it, type TestContext } from 'node:test';
import type { Event } from '../../../sdk/src/index.ts';
import { RESPONSE_TIMEOUT } from '../../src/events/webhooks/delivery-rules.ts';
import { certificate, privateKey } from '../events/certificate.ts';
import { type Received, Receiver } from '../events/receiver.ts';
import { useCommandShop } from '../support/command-shop.ts';
import { assertGapless, settledCursor } from '../support/event-log.ts';
import { aCategory } from '../support/factories.ts';
import { listenLocally } from '../support/local-server.ts';
import { importVerification } from '../support/packed-client.ts';
import { restoreLog } from '../support/restored-log.ts';
import { inTime, until } from '../support/until.ts';
import { valuesOf } from '../support/values.ts';

const { verifyWebhook } = await importVerification();

const NO_CONTENT = 204;

/** A local program that records what it receives. */
async function startProgram(t: TestContext) {
  const program = await Receiver.start();
  t.after(() => program.close());
  return program;
}

const idsOf = ({ received }: Receiver) => received.map(({ event }) => Number(event.id));

describe('petstore listen', () => {
  const { shop, petstore, directory } = useCommandShop({
    environment: { PETSTORE_WEBHOOKS_ALLOW_PRIVATE: 'true' },
  });
  beforeEach(() => rmSync(join(directory, 'petstore'), { recursive: true, force: true }));

  /** Starts the command in this process, and waits until it forwards events. It ends when the test ends. */
  async function listen(t: TestContext, url: string, args: string[] = []) {
    const stop = new AbortController();
    let notes = '';
    const onError = (text: string) => {
      notes += text;
    };
    const words = ['listen', '--forward-to', url, '--json', ...args];
    const ended = petstore.run(words, {}, { signal: stop.signal, onError });
    t.after(async () => {
      stop.abort();
      await ended;
    });
    await until('it forwards events', () => notes.includes('Forwarding events after'));
    assert.doesNotMatch(notes, /whsec_/, 'the secret is only shown on a terminal');
    const [, file] = /secret of the deliveries is the field secret of (\S+)/.exec(notes)!;
    const { secret } = JSON.parse(readFileSync(file!, 'utf8')) as { secret: string };
    const end = () => inTime('the end', ended);
    return { stop: () => stop.abort(), secret, notes: () => notes, end };
  }

  function storePosition(cursor: number): void {
    for (const file of globSync('petstore/listen/*', { cwd: directory })) {
      const text = readFileSync(join(directory, file), 'utf8');
      writeFileSync(join(directory, file), text.replace(/"cursor": "\d+"/, `"cursor": "${cursor}"`));
    }
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
    assert.equal(local!.text, remote!.text);
    assert.deepEqual(comparable(local!), comparable(remote!));
    assert.equal(local!.headers.traceparent, traceparent);
    // The program could close a connection that is used again at the same moment.
    assert.equal(local!.headers.connection, 'close');
    assert.equal(local!.headers['webhook-id'], `msg_0_${local!.event.id}`);
    assert.equal((await verifyWebhook(local!.headers, local!.text, secret)).type, 'category.created');
    const { RESPONSE_TIMEOUT: timeout } =
      await petstore.load<typeof import('../../../cli/src/delivery.ts')>('delivery.js');
    assert.equal(timeout, RESPONSE_TIMEOUT);
    await shop.api.delete(`/webhooks/${created.body.id}`);
  });

  it('continues after `kill -9`; only an event without a response arrives again, with its webhook-id', async t => {
    const program = await startProgram(t);
    const first = Number(await settledCursor(shop));
    const child = petstore.start(['listen', '--forward-to', program.url]);
    t.after(() => child.kill('SIGKILL'));
    await until('it has a position', () => globSync('petstore/listen/*', { cwd: directory }).length === 2);
    await makeEvents(3);
    await program.has(3);
    program.hold();
    await makeEvents(2);
    await program.has(4);
    child.kill('SIGKILL');
    await child.ended;
    program.respondWith(NO_CONTENT);
    await listen(t, program.url);
    await program.has(6);
    assert.deepEqual(
      idsOf(program).map(id => id - first),
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
    const { stop, end } = await listen(t, program.url);
    stop();
    await end();
    await makeEvents(2);
    await listen(t, program.url);
    await program.has(2);
    assertGapless(idsOf(program), first + 1);
  });

  it('notes a problem of the program once, and sends the event until it is accepted', async t => {
    const program = await startProgram(t);
    program.handleWith(response => {
      const attempts = program.received.length;
      if (attempts === 1) response.destroy();
      else response.writeHead(attempts < 4 ? 302 : NO_CONTENT).end();
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
      subject: program.received[0]!.event.subject,
      status: NO_CONTENT,
      attemptCount: 4,
    });
    assert.deepEqual([two.eventId, two.attemptCount], [`${first + 2}`, 1]);
    assert.deepEqual(
      idsOf(program).map(id => id - first),
      [1, 1, 1, 1, 2],
    );
    const problems = [...stderr.matchAll(/does not accept event \d+ \((.*)\)/g)].map(
      ([, problem]) => problem,
    );
    assert.deepEqual(problems, ['ECONNRESET', 'the status is 302']);
  });

  it('continues after the last event of a run with --limit', async t => {
    const program = await startProgram(t);
    const first = Number(await settledCursor(shop));
    const { end } = await listen(t, program.url, ['--limit', '1']);
    await makeEvents(2);
    await end();
    await listen(t, program.url);
    await program.has(2);
    assertGapless(idsOf(program), first + 1);
  });

  it('starts after --from, and forwards only --type', async t => {
    const { body } = await shop.api.post('/categories', { name: 'Ferrets' });
    await shop.api.post('/pets', { name: 'Bandit', categoryId: body.id });
    await settledCursor(shop);
    const program = await startProgram(t);
    const args = ['--from', '0', '--type', 'pet.*', '--type', 'order.*', '--limit', '1'];
    // A URL may lack its scheme.
    const { end } = await listen(t, program.url.replace('http://', ''), args);
    assert.equal((await end()).code, 0);
    assert.equal(program.received[0]!.event.type, 'pet.created');
  });

  it('starts after --from, also if an earlier run has stored a later position', async t => {
    const program = await startProgram(t);
    const from = await settledCursor(shop);
    const first = await listen(t, program.url, ['--limit', '1']);
    await makeEvents(1);
    assert.equal((await first.end()).code, 0);
    const again = await listen(t, program.url, ['--from', String(from), '--limit', '1']);
    assert.equal((await again.end()).code, 0);
    const [id, sameId] = idsOf(program);
    assert.equal(id, sameId);
  });

  it('ends with Ctrl-C after the response to the last event, which does not arrive again', async t => {
    const program = await startProgram(t);
    const { stop, end, notes } = await listen(t, program.url);
    await makeEvents(1);
    await program.has(1);
    program.hold();
    await makeEvents(2);
    await program.has(2);
    stop();
    await until('it waits', () => notes().includes('Waiting for the response to event'));
    program.release();
    const { code, stdout, stderr } = await end();
    assert.equal(code, 130);
    const { eventId } = JSON.parse(stdout.trim().split('\n').at(-1)!);
    const awaited = [...stderr.matchAll(/the response to event (\d+)/g)].map(([, id]) => id);
    assert.deepEqual(awaited, [eventId], 'not to those that have their responses');
    await listen(t, program.url);
    await program.has(3);
    assert.deepEqual(
      idsOf(program),
      [-1, 0, 1].map(after => Number(eventId) + after),
    );
  });

  it('ends at once with a second Ctrl-C, although the program has not responded', async t => {
    const program = await startProgram(t);
    program.hold();
    const child = petstore.start([
      'listen',
      '--forward-to',
      program.url,
      '--from',
      await settledCursor(shop),
    ]);
    t.after(() => child.kill('SIGKILL'));
    let notes = '';
    child.stderr!.on('data', text => {
      notes += text;
    });
    await makeEvents(1);
    await program.has(1);
    child.kill('SIGINT');
    await until('it waits', () => notes.includes('Ctrl-C ends at once'));
    const exit = once(child, 'exit');
    child.kill('SIGINT');
    assert.deepEqual(await inTime('the end', exit), [null, 'SIGINT']);
  });

  it('ends with Ctrl-C while the program does not accept an event', async t => {
    const program = await startProgram(t);
    program.respondWith(500);
    const from = await settledCursor(shop);
    const child = petstore.start(['listen', '--forward-to', program.url, '--from', from]);
    t.after(() => child.kill('SIGKILL'));
    let notes = '';
    child.stderr!.on('data', text => {
      notes += text;
    });
    await makeEvents(1);
    await until('the program rejects it', () => notes.includes('does not accept event'));
    child.kill('SIGINT');
    assert.equal((await inTime('the end', child.ended)).code, 130);
  });

  it('ends with Ctrl-C before the next event, also if that has already arrived', async t => {
    const program = await startProgram(t);
    const first = await listen(t, program.url);
    first.stop();
    await first.end();
    await makeEvents(3);
    await settledCursor(shop);
    program.hold();
    const { stop, end } = await listen(t, program.url);
    await program.has(1);
    stop();
    program.release();
    assert.equal((await end()).code, 130);
    assert.equal(program.received.length, 1);
    await listen(t, program.url);
    await program.has(3);
    assertGapless(idsOf(program), idsOf(program)[0]!);
  });

  it('states what to do if the stored position is not in the log', async t => {
    const program = await startProgram(t);
    const { stop, end } = await listen(t, program.url);
    stop();
    await end();
    storePosition(999_999);
    const { code, stderr } = await petstore.run(['listen', '--forward-to', program.url]);
    assert.equal(code, 4);
    assert.match(
      stderr,
      /The events after 999999 cannot be read: choose another start, such as --from latest/,
    );
    const mistyped = await petstore.run(['listen', '--forward-to', program.url, '--type', 'order.created']);
    assert.equal(mistyped.code, 2);
    assert.doesNotMatch(mistyped.stderr, /--from/, 'another start would skip events');
  });

  it('reports a restore of the service, and continues with log.restored, as a webhook does', async t => {
    const program = await startProgram(t);
    const { systemClock } = await petstore.loadClient<typeof import('../../../sdk/src/clock.ts')>('clock.js');
    t.mock.method(systemClock, 'random', () => 0.01);
    const { stop, end, notes } = await listen(t, program.url, ['--type', 'category.*']);
    const survivor = Number(await settledCursor(shop));
    await makeEvents(2);
    await program.has(2);
    await restoreLog(shop, survivor);
    await makeEvents(1);
    await program.has(4);
    const [restored, next] = program.received.slice(2).map(({ event }) => event);
    assert.deepEqual([restored.type, next.type], ['log.restored', 'category.created']);
    assert.equal(restored.data.lastSurvivingId, String(survivor));
    assert.equal(Number(next.id), Number(restored.id) + 1);
    assert.match(
      notes(),
      /The service was restored from a backup, and event \d+ is not part of its log any more/,
    );
    assert.match(notes(), new RegExp(`\\. Continuing after ${survivor} …`));
    // The log then has two events of a restore, and only the second one is news.
    await makeEvents(1);
    await program.has(5);
    await restoreLog(shop, Number(next.id));
    await makeEvents(1);
    await program.has(7);
    assert.equal(program.received[5]!.event.data.lastSurvivingId, next.id);
    stop();
    await end();
    // The position that an earlier run stored is lost.
    storePosition(survivor + 1);
    const again = await listen(t, program.url, ['--limit', '1']);
    const { stdout } = await again.end();
    assert.equal(JSON.parse(stdout).eventId, restored.id);
    assert.match(again.notes(), new RegExp(`Continuing after ${survivor} …`));

    const tail = await petstore.run(['events', 'tail', '--from', String(survivor + 1)]);
    assert.equal(tail.code, 4);
    assert.match(tail.stderr, new RegExp(`continue with cursor ${survivor}; .* \\(log_restored\\)`));
  });

  it('continues after a restore of the service also in its first run, before the first event', async t => {
    const program = await startProgram(t);
    const { systemClock } = await petstore.loadClient<typeof import('../../../sdk/src/clock.ts')>('clock.js');
    t.mock.method(systemClock, 'random', () => 0.01);
    const survivor = Number(await settledCursor(shop));
    await makeEvents(2);
    await settledCursor(shop);
    const { end } = await listen(t, program.url, ['--limit', '2']);
    await restoreLog(shop, survivor);
    await makeEvents(1);
    const { code, stderr } = await end();
    assert.equal(code, 0, stderr);
    assert.deepEqual(
      program.received.map(({ event }) => event.type),
      ['log.restored', 'category.created'],
    );
  });

  it('gives the program as much time as the service does, and leaves no timer', async t => {
    const { sendEvent } = await petstore.load<typeof import('../../../cli/src/delivery.ts')>('delivery.js');
    const program = await startProgram(t);
    program.handleWith(response => void response.writeHead(200).write('half'));
    const started = t.mock.method(globalThis, 'setTimeout').mock;
    const ended = t.mock.method(globalThis, 'clearTimeout').mock;
    const sent = sendEvent(new URL(program.url), { id: '7' } as Event, 'whsec_AAAA');
    const timer = started.calls.find(call => call.arguments[1] === RESPONSE_TIMEOUT)!;
    await program.has(1);
    timer.arguments[0]();
    await assert.rejects(sent, /^Error: no complete response within 15 seconds$/);
    await until('the timer is cleared', () => ended.calls.some(call => call.arguments[0] === timer.result));
  });

  it('sends an event again when the connection ends within the response', async t => {
    const { sendEvent } = await petstore.load<typeof import('../../../cli/src/delivery.ts')>('delivery.js');
    const program = await startProgram(t);
    program.handleWith(response => void response.writeHead(200).write('half', () => response.destroy()));
    const sent = sendEvent(new URL(program.url), { id: '7' } as Event, 'whsec_AAAA');
    await assert.rejects(inTime('the end of the attempt', sent), { code: 'ECONNRESET' });
  });

  it('sends events to a program with HTTPS, whose certificate must be trusted', async t => {
    const { sendEvent } = await petstore.load<typeof import('../../../cli/src/delivery.ts')>('delivery.js');
    const url = await listenLocally(t, createServer({ key: privateKey, cert: certificate }));
    const sent = sendEvent(new URL(url.replace('http', 'https')), { id: '7' } as Event, 'whsec_AAAA');
    await assert.rejects(sent, { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
  });

  it('has a secret for each profile and service, and a position for each program as well', async () => {
    const { openListenState } =
      await petstore.load<typeof import('../../../cli/src/listen-state.ts')>('listen-state.js');
    const open = (url: string, profile: string | undefined, program: string) =>
      openListenState(join(directory, 'petstore'), { url, apiKey: '', ...(profile && { profile }) }, program);
    const first = open('http://a', 'shop', 'http://localhost/1');
    first.save('5');
    const again = open('http://a', 'shop', 'http://localhost/1');
    assert.deepEqual([again.secret, again.cursor], [first.secret, '5']);
    const another = open('http://a', 'shop', 'http://localhost/2');
    assert.deepEqual([another.secret, another.cursor], [first.secret, undefined]);
    for (const [url, profile] of [
      ['http://b', 'shop'],
      ['http://a', 'test'],
      ['http://a', undefined],
    ] as const) {
      const { secret, cursor } = open(url, profile, 'http://localhost/1');
      assert.notEqual(secret, first.secret);
      assert.equal(cursor, undefined);
    }
  });

  it('stores its state for the profile whose key it uses', async t => {
    const keyFile = join(directory, 'key');
    writeFileSync(keyFile, shop.adminKey);
    const login = ['login', '--url', shop.origin, '--api-key-file', keyFile, '--profile', 'shop'];
    assert.equal((await petstore.run(login)).code, 0);
    const { url } = await startProgram(t);
    await makeEvents(1);
    const { end } = await listen(t, url, ['--profile', 'shop', '--from', '0', '--limit', '1']);
    assert.equal((await end()).code, 0);
    const files = globSync('petstore/listen/*', { cwd: directory });
    const states = files.map(file => JSON.parse(readFileSync(join(directory, file), 'utf8')));
    assert.deepEqual(valuesOf(states, 'profile'), ['shop', 'shop']);
  });

  it('doubles the pauses between attempts, up to ten seconds', async () => {
    const { pauseAfter } = await petstore.load<typeof import('../../../cli/src/delivery.ts')>('delivery.js');
    assert.deepEqual([1, 2, 3, 6, 7, 100].map(pauseAfter), [250, 500, 1_000, 8_000, 10_000, 10_000]);
  });

  it('shows each event at once on a terminal, as petstore events tail does', async t => {
    const stop = new AbortController();
    let shown = '';
    const onOutput = (text: string) => {
      shown += text;
    };
    const from = await settledCursor(shop);
    const words = ['events', 'tail', '--from', String(from)];
    const ended = petstore.run(words, {}, { signal: stop.signal, columns: 120, onOutput });
    t.after(async () => {
      stop.abort();
      await ended;
    });
    await makeEvents(1);
    await until('the event is shown', () => shown.includes('category.created'));
  });

  it('rejects a URL that it cannot send to', async () => {
    const { code, stderr } = await petstore.run(['listen', '--forward-to', 'ftp://localhost:3000']);
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
