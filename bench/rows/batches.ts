import { startBackends } from '../harness/backends.ts';
import type { Row } from '../harness/bench.ts';
import { atLeast, atMost, type Finding, figure, spread } from '../harness/findings.ts';
import { type Client, keptOpen, post, send } from '../harness/http.ts';
import { type Server, type ServiceSettings, startService } from '../harness/servers.ts';
import { type Access, prepareService } from '../harness/shop.ts';
import { milliseconds, timesDuring } from '../harness/times.ts';
import { batchRequests } from '../worst-request/batch-requests.ts';
import { exchange } from '../worst-request/exchange.ts';
import { type Hold, holdDuring, holdFinding, repeated, untilIdle } from '../worst-request/holds.ts';

const PETS = 10_000;
/** Each pet is two operations. */
const PETS_PER_BATCH = 500;
const MANY_PETS = 100_000;
/** The pets are imported in parts, which alternate between the sides of the comparison. */
const PARTS = 5;
/** The number of batches during which another client writes. */
const BATCHES = 20;

/** The speed of imports in batches, how long they block the event loop, and how long other writers wait. */
export const batches: Row = {
  name: 'batches',
  async measure() {
    const embedded = await measureStore('embedded store', {}, importMany);
    await using backends = await startBackends();
    return [...embedded, ...(await measureStore('PostgreSQL + Redis', { env: backends.env }))];
  },
};

/** A store, and a client that keeps its connections open. */
interface Shop {
  store: string;
  server: Server;
  access: Access;
  client: Required<Client>;
}

async function measureStore(
  store: string,
  settings: ServiceSettings,
  further?: (shop: Shop) => Promise<Finding>,
): Promise<Finding[]> {
  await using server = await startService({ ...settings, preload: 'loop-probe' });
  const access = await prepareService(server);
  using client = keptOpen(access);
  const shop = { store, server, access, client };
  return [
    await compareSpeed(shop),
    await writerWait(shop),
    await holdsDuringReads(shop),
    ...(further ? [await further(shop)] : []),
  ];
}

async function compareSpeed(shop: Shop): Promise<Finding> {
  const inBatches: number[] = [];
  const singly: number[] = [];
  await importInBatches(shop, PETS_PER_BATCH);
  await importSingly(shop, PETS_PER_BATCH);
  while (singly.length < PARTS) {
    inBatches.push(await milliseconds(() => importInBatches(shop, PETS / PARTS)));
    singly.push(await milliseconds(() => importSingly(shop, PETS / PARTS)));
  }
  const total = (times: number[]) => (times.reduce((sum, time) => sum + time, 0) / 1_000).toFixed(2);
  return figure({
    what:
      `${shop.store}: ${PETS.toLocaleString('en')} pets with stock, time of ${(2 * PETS).toLocaleString('en')} single requests one ` +
      'after another / time of batches one after another',
    target: atLeast(' ×', 8, 20),
    values: singly.map((time, i) => time / inBatches[i]!),
    digits: 1,
    absolute: `batches of ${2 * PETS_PER_BATCH} operations ${total(inBatches)} s, single requests ${total(singly)} s`,
  });
}

async function importMany(shop: Shop): Promise<Finding> {
  const seconds = (await milliseconds(() => importInBatches(shop, MANY_PETS))) / 1_000;
  return figure({
    what: `${shop.store}: import of ${MANY_PETS.toLocaleString('en')} pets with stock in batches`,
    target: atMost(' s', 10),
    values: [seconds],
    digits: 1,
    absolute: `${Math.round(MANY_PETS / seconds).toLocaleString('en')} pets/s, one batch after another`,
  });
}

/** How long a writer waits at most while another client sends one batch after another. */
async function writerWait(shop: Shop): Promise<Finding> {
  const { store, access, client } = shop;
  const batchTimes: number[] = [];
  const sendBatches = async () => {
    while (batchTimes.length < BATCHES)
      batchTimes.push(await milliseconds(() => importInBatches(shop, PETS_PER_BATCH)));
  };
  const pet = { name: 'Single', categoryId: access.categoryId };
  const waits = await timesDuring(sendBatches(), () => post(client, '/pets', pet), 10);
  const [wait, batch] = [spread(waits), spread(batchTimes)];
  return figure({
    what: `${store}: longest wait of a writer while another client sends batches / longest time of a batch`,
    target: atMost(' ×', 1),
    values: [wait.max / batch.max],
    digits: 2,
    absolute:
      `longest of ${waits.length} writes ${wait.max.toFixed(0)} ms, median ${wait.median.toFixed(1)} ms; ` +
      `longest batch of ${2 * PETS_PER_BATCH} operations ${batch.max.toFixed(0)} ms`,
  });
}

/** How long batches with bodies near the limit block the event loop while another client reads. */
async function holdsDuringReads({ store, server, access, client }: Shop): Promise<Finding> {
  const reads: number[] = [];
  const holds: Hold[] = [];
  await untilIdle(server);
  for (const request of batchRequests(access)) {
    const sendBatch = async () => {
      const { status, head } = await exchange(server.port, request);
      if (status !== request.expected) throw new Error(`${request.name}: ${head}`);
    };
    const sendBoth = async () =>
      reads.push(...(await timesDuring(sendBatch(), () => send(client, 'GET', '/pets?limit=1'))));
    holds.push({ name: request.name, times: await repeated(() => holdDuring(server, sendBoth)) });
  }
  const slowest = spread(reads).max.toFixed(0);
  return holdFinding(`batches near 1 MiB, ${store}`, holds, `slowest read meanwhile ${slowest} ms`);
}

async function importInBatches({ client, access: { categoryId } }: Shop, pets: number): Promise<void> {
  for (let first = 0; first < pets; first += PETS_PER_BATCH) {
    const operations = Array.from({ length: PETS_PER_BATCH }, (_, i) => [
      { method: 'POST', path: '/pets', body: { name: `Pet ${first + i}`, categoryId }, label: `p${i}` },
      { method: 'PUT', path: `/store/inventory/{p${i}}`, body: { quantity: 3 } },
    ]).flat();
    await post(client, '/batch', { operations });
  }
}

async function importSingly({ client, access: { categoryId } }: Shop, pets: number): Promise<void> {
  for (let i = 0; i < pets; i++) {
    const { id } = await post<{ id: number }>(client, '/pets', { name: `Pet ${i}`, categoryId });
    await send(client, 'PUT', `/store/inventory/${id}`, '{"quantity":3}');
  }
}
