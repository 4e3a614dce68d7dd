import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../support/client.ts';
import { eventsAfter } from '../support/event-log.ts';
import { aCategory, aPet, stockOf } from '../support/factories.ts';
import { sized } from '../support/long.ts';
import { Random } from '../support/random.ts';
import type { ServiceProcess } from '../support/service-process.ts';
import { until } from '../support/until.ts';
import { kills, newStore, SEED, type Start, stores } from './killed.ts';
import { effectOf } from './rejected-write.ts';
import { isDisconnect } from './write-load.ts';

const BATCHES = sized(40, 200);

const ROUNDS = kills(2, 10);

const CLIENTS = 4;
/** Pets that a batch creates, in addition to an adjustment of the stock that all batches share. */
const PETS = 4;

/** A batch that is repeated with the same key and body until it has a response. */
interface Repeated {
  name: string;
  body: object;
  /** How often it was sent. */
  attempts: number;
  response?: string;
}

/** Creates pets with stock, and takes a unit of a shared pet for each of them: a batch in part, or twice, shows in the stock. */
function aBatch(i: number, categoryId: number, sharedId: number): Repeated {
  const name = `Batch ${i}`;
  const operations = Array.from({ length: PETS }, (_, pet) => [
    { method: 'POST', path: '/pets', body: { name: `${name}, pet ${pet}`, categoryId }, label: `pet${pet}` },
    { method: 'PUT', path: `/store/inventory/{pet${pet}}`, body: { quantity: i + 2 } },
    { method: 'POST', path: `/store/inventory/${sharedId}/adjustments`, body: { delta: -1 } },
  ]);
  // Some batches are not atomic, and one of their operations fails.
  const atomic = i % 3 !== 0;
  const failing = { method: 'DELETE', path: `/categories/${categoryId}` };
  const body = { atomic, operations: atomic ? operations.flat() : [...operations.flat(), failing] };
  return { name, body, attempts: 0 };
}

/** Sends batches one after another until none is left or the service has ended. */
async function sendUntilDisconnected(
  { api }: ServiceProcess,
  waiting: Repeated[],
  completed: Repeated[],
): Promise<void> {
  for (let batch = waiting.shift(); batch; batch = waiting.shift()) {
    batch.attempts++;
    try {
      const response = await api.post('/batch', batch.body, { 'idempotency-key': batch.name });
      // PostgreSQL may still execute the statements of a replica that was killed.
      if (effectOf(response) !== 'done') {
        await sleep(20);
        waiting.unshift(batch);
        continue;
      }
      assert.equal(response.status, 200, response.text);
      batch.response = response.text;
      completed.push(batch);
    } catch (error) {
      if (!isDisconnect(error)) throw error;
      // The batch was executed or not.
      waiting.unshift(batch);
      break;
    }
  }
}

async function killDuringBatches(t: TestContext, start: Start): Promise<void> {
  const random = new Random(SEED);
  let service = await start();
  const categoryId = await aCategory(service.api);
  const stock = BATCHES * PETS + 1;
  const sharedId = await aPet(service.api, { categoryId, stock });
  const waiting = Array.from({ length: BATCHES }, (_, i) => aBatch(i, categoryId, sharedId));
  const batches = [...waiting];
  const completed: Repeated[] = [];
  const send = () =>
    Promise.all(Array.from({ length: CLIENTS }, () => sendUntilDisconnected(service, waiting, completed)));
  for (let round = 1; round <= ROUNDS; round++) {
    const sending = send();
    // Kills are spread over all batches, and come at random moments of one.
    const target = Math.floor((BATCHES * round) / (ROUNDS + 1));
    await Promise.race([
      until(`${target} batches have a response`, () => completed.length >= target),
      sending,
    ]);
    await sleep(random.between(0, 20));
    await service.end('SIGKILL');
    await sending;
    service = await start();
  }
  await send();
  assert.equal(completed.length, BATCHES);
  const repeated = batches.filter(({ attempts }) => attempts > 1);
  assert.ok(repeated.length > 0, 'no kill came while a batch was in progress');

  const { api } = service;
  // Every batch again: each returns what its client received before.
  const again = await Promise.all(
    batches.map(({ name, body }) => api.post('/batch', body, { 'idempotency-key': name })),
  );
  for (const [i, { headers, text }] of again.entries()) {
    assert.equal(headers['idempotency-replayed'], 'true', text);
    assert.equal(text, batches[i]!.response);
  }
  assert.deepEqual(await stockOf(api, sharedId), ['available', stock - BATCHES * PETS]);
  await assertCreatedOnce(api, batches);
  t.diagnostic(`${ROUNDS} kills, ${repeated.length} of ${BATCHES} batches were sent more than once`);
}

/** Asserts by the log that each batch created its pets once, in the order of its operations. */
async function assertCreatedOnce(api: Client, batches: readonly Repeated[]): Promise<void> {
  // On PostgreSQL, events get their numbers after the commit.
  let names: string[] = [];
  await until('the last event has a number', async () => {
    const created = await eventsAfter(api, 0, '&type=pet.created');
    names = created.map(({ data }) => (data as { name: string }).name);
    return names.length > BATCHES * PETS;
  });
  const byBatch = Map.groupBy(names, name => name.split(', ')[0]);
  for (const { name } of batches) {
    assert.deepEqual(
      byBatch.get(name),
      Array.from({ length: PETS }, (_, i) => `${name}, pet ${i}`),
    );
  }
}

/** Ends the process when it would send the response to a request with this Idempotency-Key: after its commit. */
const killBeforeResponse = (key: string) =>
  `--import data:text/javascript,${encodeURIComponent(`
  import { ServerResponse } from 'node:http';
  const { writeHead } = ServerResponse.prototype;
  ServerResponse.prototype.writeHead = function (...head) {
    if (this.req.headers['idempotency-key'] === '${key}') process.kill(process.pid, 'SIGKILL');
    return writeHead.apply(this, head);
  };
`)}`;

async function killBetweenCommitAndResponse(start: Start): Promise<void> {
  let service = await start({ NODE_OPTIONS: killBeforeResponse('order') });
  const petId = await aPet(service.api, { stock: 100 });
  const order = { method: 'POST', path: '/store/orders', body: { petId, quantity: 2 } };
  const adjustment = { method: 'POST', path: `/store/inventory/${petId}/adjustments`, body: { delta: -5 } };
  const batch = { method: 'POST', path: '/batch', body: { operations: [order, adjustment] } };
  for (const [key, { path, body }, next] of [
    ['order', order, 'batch'],
    ['batch', batch, 'none'],
  ] as const) {
    const send = () => service.api.post(path, body, { 'idempotency-key': key });
    await assert.rejects(send(), isDisconnect);
    await service.ended;
    service = await start({ NODE_OPTIONS: killBeforeResponse(next) });
    const { headers, text } = await send();
    assert.equal(headers['idempotency-replayed'], 'true', `${path} had no outcome: ${text}`);
  }
  assert.deepEqual(await stockOf(service.api, petId), ['available', 100 - 2 * 2 - 5]);
}

for (const store of stores) {
  describe(`a process on ${store}`, () => {
    it(`that is killed ${ROUNDS} times during ${BATCHES} repeated batches has executed each exactly once`, async t =>
      killDuringBatches(t, await newStore(t, store)));

    it('that is killed between a commit and its response replays the outcome when the request is repeated', async t =>
      killBetweenCommitAndResponse(await newStore(t, store)));
  });
}
