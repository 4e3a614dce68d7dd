import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { startPostgres } from '../../scripts/servers/postgres.ts';
import { type SearchQuery, searchPets } from '../../service/src/catalog/pets/pet-search.ts';
import type { Database } from '../../service/src/db/database.ts';
import { openPostgres } from '../../service/src/db/postgres.ts';
import { openSqlite } from '../../service/src/db/sqlite.ts';
import { systemClock } from '../../service/src/kit/clock.ts';
import { temporaryDirectory } from '../harness/at-exit.ts';
import { type Finding, showSpread, spread, throughputFinding } from '../harness/findings.ts';
import { postRequest } from '../harness/http-requests.ts';
import type { LoadGenerator } from '../harness/load-generator.ts';
import { type Effort, measurePairs } from '../harness/pairs.ts';
import { type Server, startService } from '../harness/servers.ts';
import { NEW_PET, prepareService } from '../harness/shop.ts';
import { verdictOf } from '../harness/targets.ts';
import { fillPets } from '../search/fill-store.ts';
import { namesOf, RARELY_TOGETHER } from '../search/names.ts';
import { TimedQueries } from '../search/timed-store.ts';
import { rawRequest } from '../worst-request/exchange.ts';
import { holdFinding, holdsOf, untilIdle } from '../worst-request/holds.ts';
import { CONNECTIONS, type Row } from './row.ts';

const PETS = 1_000_000;
const REPETITIONS = 7;
/** The database time of a page, in milliseconds. */
const AT_MOST = 5;
/** A write may cost 10 % more with search. */
const WRITE_TARGET = { goal: 0.91 };
/** The interval after which the service knows which words are in the dictionary, in milliseconds. */
const SWEEP_INTERVAL = 61_000;

/** Searches by kind. Those of the second group may take longer: the engine has to look at each pet with a word. */
const SEARCHES: Record<string, Omit<SearchQuery, 'limit'>> = {
  'one letter': { q: 's' },
  'a rare letter': { q: 'x' },
  'a common word': { q: 'golden' },
  'two common words': { q: 'golden retriever' },
  'errors in both words': { q: 'goldne retreiver' },
  'a common word of few pending pets': { q: 'golden', status: ['pending'] },
  'one letter in a small category': { q: 's', categoryId: 77 },
};

const LONG_SEARCHES: Record<string, Omit<SearchQuery, 'limit'>> = {
  'two common words that one pet has': { q: RARELY_TOGETHER.join(' ') },
  'four common words': { q: 'golden retriever shadow labrador' },
  'two letters': { q: 's z' },
  'one letter, counted': { q: 's', count: true },
};

export const search: Row = {
  name: 'search',
  async measure(generator, effort) {
    return [...(await onSqlite(generator, effort)), ...(await onPostgres())];
  },
};

async function onSqlite(generator: LoadGenerator, effort: Effort): Promise<Finding[]> {
  const dataDirectory = temporaryDirectory();
  const db = openSqlite({ directory: dataDirectory, writeBatch: 1, maxQueue: 100, clock: systemClock });
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

async function onPostgres(): Promise<Finding[]> {
  // Avoids checkpoints while the million rows are inserted.
  const postgres = await startPostgres({ settings: { max_wal_size: '8GB' } });
  await using running = new AsyncDisposableStack();
  running.defer(() => postgres.stop());
  const url = await postgres.createDatabase();
  const options = { url, connections: 2, statementSeconds: 600, maxQueue: 100, clock: systemClock };
  const db = await openPostgres(options);
  running.defer(() => db.close());
  return await measureSearches('PostgreSQL', db, async () => {
    const client = new Client(url);
    await client.connect();
    await client.query('VACUUM ANALYZE');
    await client.end();
  });
}

/** Fills a store and measures the time in which it works on each search. */
async function measureSearches(engine: string, db: Database, tidy?: () => Promise<void>): Promise<Finding[]> {
  const { seconds, slice } = await fillPets(db, PETS);
  await tidy?.();
  const filled = `words of 1,000,000 pets stored in ${seconds.toFixed(0)} s, longest slice ${slice.toFixed(0)} ms`;
  return [
    await searchFinding(
      `${engine}: database time of a search at 1,000,000 pets`,
      db,
      SEARCHES,
      AT_MOST,
      filled,
    ),
    await searchFinding(`${engine}: searches that need more`, db, LONG_SEARCHES, undefined, ''),
  ];
}

async function searchFinding(
  what: string,
  db: Database,
  searches: Record<string, SearchQuery>,
  most: number | undefined,
  details: string,
): Promise<Finding> {
  const timed = new TimedQueries(db);
  const times = [];
  for (const [name, query] of Object.entries(searches)) {
    const all: number[] = [];
    while (all.length <= REPETITIONS) {
      await searchPets(timed, query);
      all.push(timed.takeTime());
    }
    // The first one prepares the statements.
    times.push({ name, ...spread(all.slice(1)) });
  }
  const worst = times.reduce((a, b) => (a.median > b.median ? a : b));
  const figures = times.map(({ name, median }) => `${name} ${median.toFixed(1)}`).join(', ');
  return {
    what: `${what} (worst: ${worst.name})`,
    target: most === undefined ? 'none' : `≤ ${most} ms`,
    measured: showSpread(worst, 1, ' ms'),
    absolute: [`${figures} ms`, ...(details ? [details] : [])].join('; '),
    verdict: most === undefined ? undefined : verdictOf(worst.median <= most),
  };
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
