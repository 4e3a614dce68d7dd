import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SearchQuery } from '../../service/src/catalog/pets/search/search-pets.ts';
import { openSqlite } from '../../service/src/db/sqlite.ts';
import { systemClock } from '../../service/src/kit/clock.ts';
import { temporaryDirectory } from '../harness/at-exit.ts';
import { type Finding, throughputFinding } from '../harness/findings.ts';
import { postRequest } from '../harness/http-requests.ts';
import type { LoadGenerator } from '../harness/load-generator.ts';
import { type Effort, measurePairs } from '../harness/pairs.ts';
import { type Server, startService } from '../harness/servers.ts';
import { NEW_PET, prepareService } from '../harness/shop.ts';
import { fillPets } from '../search/fill-store.ts';
import { LONG_SEARCHES, measureSearches, SEARCHES } from '../search/measure-searches.ts';
import { namesOf, withLongestNames } from '../search/names.ts';
import { rawRequest } from '../worst-request/exchange.ts';
import { holdFinding, holdsOf, untilIdle } from '../worst-request/holds.ts';
import { CONNECTIONS, type Row } from './row.ts';

const PETS = 1_000_000;
/** A write may cost 10 % more with search. */
const WRITE_TARGET = { goal: 0.91 };
/** The interval after which the service knows which words are in the dictionary, in milliseconds. */
const SWEEP_INTERVAL = 61_000;

export const search: Row = {
  name: 'search',
  measure: onSqlite,
};

async function onSqlite(generator: LoadGenerator, effort: Effort): Promise<Finding[]> {
  const dataDirectory = temporaryDirectory();
  const db = openSqlite({ directory: dataDirectory, writeBatch: 1, maxQueue: 100, clock: systemClock });
  await fillPets(db, withLongestNames(namesOf(PETS)));
  const findings = await measureSearches('SQLite', db);
  await db.close();
  {
    await using server = await startService({ dataDirectory, preload: 'loop-probe' });
    const apiKey = await server.administratorKey();
    await untilIdle(server);
    const requests = Object.values({ ...SEARCHES, ...LONG_SEARCHES }).map(query =>
      rawRequest('GET', `/pets?${parametersOf(query)}`, { apiKey }),
    );
    findings.push(holdFinding('searches', await holdsOf(server, requests)));
  }
  findings.push(await compareWrites(generator, effort, 'a new store', [NEW_PET(0).name]));
  const names = namesOf(PETS + 10_000).slice(PETS);
  findings.push(await compareWrites(generator, effort, 'a store of 1,000,000', names, dataDirectory));
  return findings;
}

function parametersOf(query: Omit<SearchQuery, 'limit'>): URLSearchParams {
  return new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  );
}

/** Compares the creation of pets with and without search. */
async function compareWrites(
  generator: LoadGenerator,
  effort: Effort,
  store: string,
  names: readonly string[],
  dataDirectory?: string,
): Promise<Finding> {
  await using a = await startService(
    dataDirectory === undefined ? {} : { dataDirectory: copyOf(dataDirectory) },
  );
  await using b = await startService({
    ...(dataDirectory !== undefined && { dataDirectory: copyOf(dataDirectory) }),
    preload: 'without-search',
  });
  const side = async (server: Server) => {
    const { apiKey, categoryId } = await prepareService(server);
    const requests = names.map(name => postRequest('/pets', apiKey, { name, categoryId }));
    return { server, requests, expectedStatus: 201, connections: CONNECTIONS };
  };
  const [withSearch, without] = [await side(a), await side(b)];
  await measurePairs(generator, { ...effort, pairs: 1 }, withSearch, without);
  await sleep(SWEEP_INTERVAL);
  const pairs = await measurePairs(generator, effort, withSearch, without);
  const what = `embedded store: durable POST of a pet to ${store} with search / without it`;
  return throughputFinding(
    { what, a: 'with', b: 'without', target: WRITE_TARGET, decides: 'throughput and CPU' },
    pairs,
  );
}

function copyOf(directory: string): string {
  const copy = temporaryDirectory();
  for (const file of ['petstore.db', 'admin.key']) cpSync(join(directory, file), join(copy, file));
  return copy;
}
