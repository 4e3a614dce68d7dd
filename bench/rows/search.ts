import { setTimeout as sleep } from 'node:timers/promises';
import { type SearchQuery, searchPets } from '../../service/src/catalog/pets/search/search-pets.ts';
import type { Bench, Row } from '../harness/bench.ts';
import { atLeast, atMost, type Finding, figure, spread } from '../harness/findings.ts';
import { requestText } from '../harness/http.ts';
import { type Contestant, compare, measurePairs } from '../harness/pairs.ts';
import { type ServiceSettings, startService } from '../harness/servers.ts';
import { NEW_PET, prepareService } from '../harness/shop.ts';
import { TimedQueries } from '../harness/timed-queries.ts';
import { MANY_ROWS } from '../stores/fill-shop.ts';
import { copyOf, type Engine, type FilledStore, openStore } from '../stores/filled-stores.ts';
import { namesOf } from '../stores/names.ts';
import { LONG_SEARCHES, SEARCHES, type Searches } from '../stores/searches.ts';

const REPETITIONS = 7;
/** The database time of a page, in milliseconds. */
const WITHIN = atMost(' ms', 5);
/** The interval after which the service knows which words are in the dictionary, in milliseconds. */
const SWEEP_INTERVAL = 61_000;

export const search: Row = {
  name: 'search',
  measure: async bench => [...(await searchTimes(bench, 'SQLite')), ...(await writeCosts(bench))],
};

/** The time includes the way to the database and back. */
export const postgresSearch: Row = {
  name: 'postgres-search',
  measure: bench => searchTimes(bench, 'PostgreSQL'),
};

/** Measures how long a store with 1,000,000 pets works on each search. */
async function searchTimes({ stores }: Bench, engine: Engine): Promise<Finding[]> {
  const db = await openStore(await stores.get(engine, MANY_ROWS));
  const timesOf = async (query: SearchQuery) => {
    const timed = new TimedQueries(db);
    const times: number[] = [];
    while (times.length <= REPETITIONS) {
      await searchPets(timed, query);
      times.push(timed.takeTime());
    }
    // The first one prepares the statements.
    return times.slice(1);
  };
  const finding = async (what: string, searches: Searches) => {
    const measured: { name: string; values: number[] }[] = [];
    for (const [name, query] of Object.entries(searches))
      measured.push({ name, values: await timesOf(query) });
    const [worst] = measured.toSorted((a, b) => spread(b.values).median - spread(a.values).median);
    return figure({
      what: `${engine}: database time of ${what} at 1,000,000 pets (worst: ${worst!.name})`,
      target: WITHIN,
      values: worst!.values,
      digits: 1,
      absolute: `${measured.map(({ name, values }) => `${name} ${spread(values).median.toFixed(1)}`).join(', ')} ms`,
    });
  };
  const findings = [await finding('a search', SEARCHES), await finding('a longer search', LONG_SEARCHES)];
  await db.close();
  return findings;
}

/** Compares the creation of pets with and without search, in a new store and in a large one. */
async function writeCosts(bench: Bench): Promise<Finding[]> {
  await using running = new AsyncDisposableStack();
  const sides = async (
    settings: ServiceSettings,
    names: readonly string[],
    access?: FilledStore['access'],
  ): Promise<[Contestant, Contestant]> => {
    const server = running.use(await startService({ ...settings, part: 'search' }));
    const { apiKey, categoryId } = access ?? (await prepareService(server));
    const requests = names.map(name =>
      requestText('POST', '/pets', apiKey, { body: JSON.stringify({ name, categoryId }) }),
    );
    return [
      { name: 'with', server, requests, part: 'on' },
      { name: 'without', server, requests, part: 'off' },
    ];
  };
  const names = [NEW_PET(0).name];
  const large = await bench.stores.get('SQLite', MANY_ROWS);
  const moreNames = namesOf(MANY_ROWS + 10_000).slice(MANY_ROWS);
  const costs = [
    { store: 'a new store', goal: 0.92, compared: await sides({}, names) },
    {
      store: 'a store of 1,000,000',
      goal: 0.85,
      compared: await sides(copyOf(large), moreNames, large.access),
    },
  ];
  const once = { ...bench, effort: { ...bench.effort, pairs: 1 } };
  for (const { compared } of costs) await measurePairs(once, ...compared);
  await sleep(SWEEP_INTERVAL);
  const findings: Finding[] = [];
  for (const { store, goal, compared } of costs) {
    const what = `embedded store: durable POST of a pet to ${store} with search / without it`;
    const target = atLeast(' ×', goal);
    findings.push(await compare(bench, { what, target, decides: 'throughput and CPU' }, ...compared));
  }
  return findings;
}
