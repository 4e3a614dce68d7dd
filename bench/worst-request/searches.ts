import { Random } from '../../service/test/support/random.ts';
import { atMost, type Finding, figure, showSpread, spread } from '../harness/findings.ts';
import { keptOpen, post, send } from '../harness/http.ts';
import type { Server } from '../harness/servers.ts';
import type { Access } from '../harness/shop.ts';
import { milliseconds, timesDuring } from '../harness/times.ts';
import { nameOfManyWords, WORD_OF_LONGEST_NAMES } from '../stores/names.ts';
import { LONG_SEARCHES, SEARCHES } from '../stores/searches.ts';
import { rawRequest } from './exchange.ts';
import { type Hold, holdDuring, holdFinding, holdsOf, repeated } from './holds.ts';

/** How long `GET /healthz` is measured while visitors search, in milliseconds. */
const OBSERVED_FOR = 3_000;
const VISITORS = 2;
const PETS_IN_BATCH = 1_000;

/** Those of the first kind have all of the longest names, and the others examine them or nothing else. */
const AMONG_LONGEST_NAMES = ['\ufdfa', `${WORD_OF_LONGEST_NAMES} s`, 'a b c d e f g h'];

/** Searches and batches with names that are much work: 3,003 of the longest ones among 1,000,000 pets, and names of 50 words. */
export async function searchFindings(server: Server, access: Access): Promise<Finding[]> {
  const queries = Object.values({ ...SEARCHES, ...LONG_SEARCHES }).map(query =>
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  );
  const more = AMONG_LONGEST_NAMES.map((q): [string, string][] => [['q', q]]);
  const targets = [...queries, ...more].flatMap(query =>
    ['', '&count=true'].map(count => `/pets?${new URLSearchParams(query)}${count}`),
  );
  const requests = targets.map(target => rawRequest('GET', target, access));
  return [
    holdFinding('searches', await holdsOf(server, requests)),
    await healthDuringSearches(access),
    ...(await batchesOfManyWords(server, access)),
  ];
}

async function healthDuringSearches(access: Access): Promise<Finding> {
  using client = keptOpen(access);
  const end = performance.now() + OBSERVED_FOR;
  const target = `/pets?${new URLSearchParams({ q: WORD_OF_LONGEST_NAMES, count: 'true' })}`;
  let searches = 0;
  const visit = async () => {
    for (; performance.now() < end; searches++) await send(client, 'GET', target);
  };
  const visits = Promise.all(Array.from({ length: VISITORS }, visit));
  const values = await timesDuring(visits, () => send(client, 'GET', '/healthz'), 10);
  return figure({
    what: `time of \`GET /healthz\` while ${VISITORS} visitors search the longest names`,
    target: atMost(' ms', 100),
    values,
    digits: 1,
    absolute: `${values.length} requests, ${searches} searches`,
  });
}

/** How long batches with names of 50 words block the event loop, and how long another writer waits at most. */
async function batchesOfManyWords(server: Server, access: Access): Promise<Finding[]> {
  using importer = keptOpen(access);
  using writer = keptOpen(access);
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
    const send = async () =>
      batchTimes.push(await milliseconds(() => post(importer, '/batch', { operations })));
    const write = () => post(writer, '/pets', pet('Single'));
    return holdDuring(server, async () => waits.push(spread(await timesDuring(send(), write, 10)).max));
  });
  const hold: Hold = { name: `${PETS_IN_BATCH} pets with names of 50 words`, times };
  return [
    holdFinding('a batch of names with many words', [hold]),
    figure({
      what: 'longest wait of a writer while another client sends such a batch',
      target: atMost(' ms', 250),
      values: waits,
      digits: 0,
      absolute: `the batch takes ${showSpread(spread(batchTimes), 0, ' ms')}`,
    }),
  ];
}
