import { setTimeout as sleep } from 'node:timers/promises';
import { startBackends } from '../harness/backends.ts';
import { type Finding, showSpread, spread } from '../harness/findings.ts';
import { OneClient } from '../harness/one-client.ts';
import { type Server, startService } from '../harness/servers.ts';
import { type Access, prepareService } from '../harness/shop.ts';
import { verdictOf } from '../harness/targets.ts';
import { batchRequests } from '../worst-request/batch-requests.ts';
import { exchange } from '../worst-request/exchange.ts';
import { holdDuring, holdFinding, repeated, untilIdle } from '../worst-request/holds.ts';
import { CONNECTIONS, type Row } from './row.ts';

const PETS = 10_000;
/** Each pet is two operations. */
const PETS_PER_BATCH = 500;
const MANY_PETS = 100_000;
const TIMES_FASTER = 8;
/** The time for `MANY_PETS` on a quiet machine, in seconds. */
const IMPORT_WITHIN = 10;
/** The pets are imported in parts, which alternate between the sides of the comparison. */
const PARTS = 5;

/** Seconds for each part. */
interface Times {
  batches: number[];
  alone: number[];
  parallel: number[];
}

interface Store {
  name: string;
  server: Server;
  access: Access;
}

/** The speed of imports in batches, how long they block the event loop, and how long other writers wait. */
export const batches: Row = {
  name: 'batches',
  async measure() {
    const findings: Finding[] = [];
    {
      await using server = await startService({ preload: 'loop-probe' });
      const store = { name: 'embedded store', server, access: await prepareService(server) };
      findings.push(...(await measureStore(store)), await importMany(store));
    }
    await using backends = await startBackends();
    await using server = await startService({ ...backends, preload: 'loop-probe' });
    findings.push(
      ...(await measureStore({ name: 'PostgreSQL + Redis', server, access: await prepareService(server) })),
    );
    return findings;
  },
};

async function measureStore(store: Store): Promise<Finding[]> {
  return [...(await compareSpeed(store)), await writerWait(store), await holdsDuringReads(store)];
}

async function compareSpeed(store: Store): Promise<Finding[]> {
  using client = new OneClient(store.server.port, store.access.apiKey);
  const inBatches = (pets: number) => seconds(() => importInBatches(client, store.access, pets));
  const single = (pets: number, connections: number) =>
    seconds(() => importSingly(client, store.access, pets, connections));
  const times: Times = { batches: [], alone: [], parallel: [] };
  await inBatches(PETS_PER_BATCH);
  await single(PETS_PER_BATCH, CONNECTIONS);
  for (let part = 0; part < PARTS; part++) {
    times.batches.push(await inBatches(PETS / PARTS));
    times.alone.push(await single(PETS / PARTS, 1));
    times.parallel.push(await single(PETS / PARTS, CONNECTIONS));
  }
  return [
    speedFinding(store, times, 'alone', 'one after another', TIMES_FASTER),
    speedFinding(store, times, 'parallel', `on ${CONNECTIONS} connections`, undefined),
  ];
}

function speedFinding(
  { name }: Store,
  times: Times,
  side: 'alone' | 'parallel',
  how: string,
  goal: number | undefined,
): Finding {
  const ratio = spread(times[side].map((time, i) => time / times.batches[i]!));
  const total = (parts: number[]) => parts.reduce((sum, time) => sum + time, 0).toFixed(2);
  return {
    what:
      `${name}: ${PETS.toLocaleString('en')} pets with stock, time of ${(2 * PETS).toLocaleString('en')} single requests ${how} / ` +
      'time of batches one after another',
    target: goal === undefined ? 'none' : `≥ ${goal} ×`,
    measured: showSpread(ratio, 1),
    absolute: `batches of ${2 * PETS_PER_BATCH} operations ${total(times.batches)} s, single requests ${total(times[side])} s`,
    verdict: goal === undefined ? undefined : verdictOf(ratio.median >= goal),
  };
}

async function importMany({ name, server, access }: Store): Promise<Finding> {
  using client = new OneClient(server.port, access.apiKey);
  const time = await seconds(() => importInBatches(client, access, MANY_PETS));
  return {
    what: `${name}: import of ${MANY_PETS.toLocaleString('en')} pets with stock in batches`,
    target: `≤ ${IMPORT_WITHIN} s`,
    measured: `${time.toFixed(1)} s`,
    absolute: `${Math.round(MANY_PETS / time).toLocaleString('en')} pets/s, one batch after another`,
    verdict: verdictOf(time <= IMPORT_WITHIN),
  };
}

/** How long a writer waits at most while another client sends one batch after another. */
async function writerWait({ name, server, access }: Store): Promise<Finding> {
  using importer = new OneClient(server.port, access.apiKey);
  using writer = new OneClient(server.port, access.apiKey);
  const batchTimes: number[] = [];
  const waits: number[] = [];
  let isOver = false;
  const importing = async () => {
    for (let i = 0; i < 20; i++)
      batchTimes.push(await seconds(() => importInBatches(importer, access, PETS_PER_BATCH)));
    isOver = true;
  };
  const writing = async () => {
    const pet = JSON.stringify({ name: 'Single', categoryId: access.categoryId });
    while (!isOver) {
      waits.push(await seconds(() => writer.send('POST', '/pets', pet)));
      // Otherwise every request would come directly after a commit.
      await sleep(Math.random() * 10);
    }
  };
  await Promise.all([importing(), writing()]);
  const [wait, batch] = [spread(waits), spread(batchTimes)];
  return {
    what: `${name}: longest wait of a writer while another client sends batches / longest time of a batch`,
    target: '≤ 1 ×',
    measured: (wait.max / batch.max).toFixed(2),
    absolute:
      `longest of ${waits.length} writes ${(wait.max * 1_000).toFixed(0)} ms, median ${(wait.median * 1_000).toFixed(1)} ms; ` +
      `longest batch of ${2 * PETS_PER_BATCH} operations ${(batch.max * 1_000).toFixed(0)} ms`,
    verdict: verdictOf(wait.max <= batch.max),
  };
}

/** How long batches with bodies near the limit block the event loop while another client reads. */
async function holdsDuringReads({ name, server, access }: Store): Promise<Finding> {
  using reader = new OneClient(server.port, access.apiKey);
  const reads: number[] = [];
  const holds = [];
  await untilIdle(server);
  for (const request of batchRequests(access)) {
    const times = await repeated(async () => {
      let isOver = false;
      const reading = async () => {
        while (!isOver) reads.push(await seconds(() => reader.send('GET', '/pets?limit=1')));
      };
      return holdDuring(server, async () => {
        const sent = exchange(server.port, request).finally(() => {
          isOver = true;
        });
        const [{ status, head }] = await Promise.all([sent, reading()]);
        if (status !== request.expected) throw new Error(`${request.name}: ${head}`);
      });
    });
    holds.push({ name: request.name, times });
  }
  const slowest = (spread(reads).max * 1_000).toFixed(0);
  return holdFinding(`batches near 1 MiB, ${name}`, holds, `slowest read meanwhile ${slowest} ms`);
}

async function importInBatches(client: OneClient, { categoryId }: Access, pets: number): Promise<void> {
  for (let first = 0; first < pets; first += PETS_PER_BATCH) {
    const operations = Array.from({ length: PETS_PER_BATCH }, (_, i) => [
      { method: 'POST', path: '/pets', body: { name: `Pet ${first + i}`, categoryId }, label: `p${i}` },
      { method: 'PUT', path: `/store/inventory/{p${i}}`, body: { quantity: 3 } },
    ]).flat();
    await client.send('POST', '/batch', JSON.stringify({ operations }));
  }
}

async function importSingly(
  client: OneClient,
  { categoryId }: Access,
  pets: number,
  connections: number,
): Promise<void> {
  let next = 0;
  const work = async () => {
    while (next < pets) {
      const pet = JSON.stringify({ name: `Pet ${next++}`, categoryId });
      const { id } = (await client.send('POST', '/pets', pet)).body;
      await client.send('PUT', `/store/inventory/${id}`, '{"quantity":3}');
    }
  };
  await Promise.all(Array.from({ length: connections }, work));
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1_000;
}
