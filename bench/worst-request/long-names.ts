import { setTimeout as sleep } from 'node:timers/promises';
import { openSqlite } from '../../service/src/db/sqlite.ts';
import { systemClock } from '../../service/src/kit/clock.ts';
import { Random } from '../../service/test/support/random.ts';
import { temporaryDirectory } from '../harness/at-exit.ts';
import { type Finding, showSpread, spread } from '../harness/findings.ts';
import { OneClient } from '../harness/one-client.ts';
import { type Server, startService } from '../harness/servers.ts';
import { type Access, prepareService } from '../harness/shop.ts';
import { verdictOf } from '../harness/targets.ts';
import { fillPets } from '../search/fill-store.ts';
import { nameOfManyWords, namesOf, WORD_OF_LONGEST_NAMES, withLongestNames } from '../search/names.ts';
import { rawRequest } from './exchange.ts';
import { type Hold, holdDuring, holdFinding, holdsOf, repeated, untilIdle } from './holds.ts';

const PETS = 200_000;
/** How long `GET /healthz` is measured while visitors search, in milliseconds. */
const OBSERVED_FOR = 3_000;
const VISITORS = 2;
/** The median time of `GET /healthz`, in milliseconds. */
const HEALTHY_WITHIN = 100;
const PETS_IN_BATCH = 1_000;
/** How long another writer may wait, in milliseconds. */
const WRITTEN_WITHIN = 250;

/** Those of the first kind have all of the longest names, and the others examine them or nothing else. */
const SEARCHES = [
  WORD_OF_LONGEST_NAMES,
  '\ufdfa',
  `${WORD_OF_LONGEST_NAMES} s`,
  'x',
  'golden',
  's z',
  'a b c d e f g h',
];

/** Searches and batches with names that are much work: 3,000 of the longest ones among 200,000 pets, and names of 50 words. */
export async function longNameFindings(): Promise<Finding[]> {
  const dataDirectory = temporaryDirectory();
  const db = openSqlite({ directory: dataDirectory, writeBatch: 1, maxQueue: 100, clock: systemClock });
  await fillPets(db, withLongestNames(namesOf(PETS)));
  await db.close();
  await using server = await startService({ dataDirectory, preload: 'loop-probe' });
  const access = await prepareService(server);
  await untilIdle(server);
  const requests = SEARCHES.flatMap(q =>
    ['', '&count=true'].map(more => `/pets?${new URLSearchParams({ q })}${more}`),
  );
  const holds = await holdsOf(
    server,
    requests.map(target => rawRequest('GET', target, access)),
  );
  return [
    holdFinding('searches with 3,000 of the longest names among 200,000 pets', holds),
    await healthBesideVisitors(server, access),
    ...(await batchesOfManyWords(server, access)),
  ];
}

async function healthBesideVisitors(server: Server, { apiKey }: Access): Promise<Finding> {
  using client = new OneClient(server.port, apiKey);
  const end = performance.now() + OBSERVED_FOR;
  let searches = 0;
  const visit = async () => {
    for (; performance.now() < end; searches++)
      await client.send('GET', `/pets?${new URLSearchParams({ q: WORD_OF_LONGEST_NAMES, count: 'true' })}`);
  };
  const times: number[] = [];
  const check = async () => {
    while (performance.now() < end) {
      times.push(await milliseconds(() => client.send('GET', '/healthz')));
      await sleep(10);
    }
  };
  await Promise.all([check(), ...Array.from({ length: VISITORS }, visit)]);
  const time = spread(times);
  return {
    what: `time of \`GET /healthz\` while ${VISITORS} visitors search the longest names`,
    target: `≤ ${HEALTHY_WITHIN} ms`,
    measured: showSpread(time, 1, ' ms'),
    absolute: `${times.length} requests, ${searches} searches`,
    verdict: verdictOf(time.median <= HEALTHY_WITHIN),
  };
}

/** How long batches with names of 50 words block the event loop, and how long another writer waits at most. */
async function batchesOfManyWords(server: Server, access: Access): Promise<Finding[]> {
  using importer = new OneClient(server.port, access.apiKey);
  using writer = new OneClient(server.port, access.apiKey);
  const random = new Random(7);
  const pet = (name: string) => ({ name, categoryId: access.categoryId });
  const waits: number[] = [];
  const batchTimes: number[] = [];
  const times = await repeated(async () => {
    const operations = Array.from({ length: PETS_IN_BATCH }, () => ({
      method: 'POST',
      path: '/pets',
      body: pet(nameOfManyWords(random)),
    }));
    const batch = JSON.stringify({ operations });
    let isOver = false;
    let longest = 0;
    const importing = async () => {
      batchTimes.push(await milliseconds(() => importer.send('POST', '/batch', batch)));
      isOver = true;
    };
    const writing = async () => {
      while (!isOver) {
        const single = JSON.stringify(pet('Single'));
        longest = Math.max(longest, await milliseconds(() => writer.send('POST', '/pets', single)));
        await sleep(Math.random() * 10);
      }
    };
    const hold = await holdDuring(server, () => Promise.all([importing(), writing()]));
    waits.push(longest);
    return hold;
  });
  const hold: Hold = { name: `${PETS_IN_BATCH} pets with names of 50 words`, times };
  const wait = spread(waits);
  return [
    holdFinding('a batch of names with many words', [hold]),
    {
      what: 'longest wait of a writer while another client sends such a batch',
      target: `≤ ${WRITTEN_WITHIN} ms`,
      measured: showSpread(wait, 0, ' ms'),
      absolute: `the batch takes ${showSpread(spread(batchTimes), 0, ' ms')}`,
      verdict: verdictOf(wait.median <= WRITTEN_WITHIN),
    },
  ];
}

async function milliseconds(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
