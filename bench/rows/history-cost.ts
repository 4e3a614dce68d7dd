import { numbersTo } from '../../service/test/support/numbers.ts';
import { startBackends } from '../harness/backends.ts';
import type { Row } from '../harness/bench.ts';
import { atMost, type Finding, figure, spread } from '../harness/findings.ts';
import { type Client, keptOpen, respond, send } from '../harness/http.ts';
import { startService } from '../harness/servers.ts';
import { prepareService } from '../harness/shop.ts';
import { milliseconds } from '../harness/times.ts';
import { type Engine, openStore, type Store } from '../stores/filled-stores.ts';

const CHANGES = 1_000_000;
/** Of the pet 1: one change in a hundred. */
const CHANGES_OF_PET = 10_000;
const REPETITIONS = 50;
const LIMIT = 100;
const WITHIN = atMost(' ms', 20);

/** The longest pages that people read, each as the first page and far in the past. */
const PAGES = {
  'a pet': 'subject=pets/1',
  'a pet, its stock and its orders': 'subject=pets/1&related=true',
  'one type of a pet': 'subject=pets/1&type=pet.updated',
  'a key': 'actor=keys/1',
  'a key that made few changes': 'actor=keys/2',
  'a type': 'type=pet.*',
  everything: '',
};

/** How long a page of the history takes over HTTP, with 1,000,000 events and a pet with 10,000 changes. */
export const historyCost: Row = {
  name: 'history-cost',
  async measure() {
    const embedded = await pageTimes('SQLite', {});
    await using backends = await startBackends();
    return [embedded, await pageTimes('PostgreSQL', backends.env)];
  },
};

async function pageTimes(engine: Engine, env: NodeJS.ProcessEnv): Promise<Finding> {
  const store = await storeWithHistory(env);
  await using server = await startService(store);
  using client = keptOpen({ port: server.port, apiKey: store.apiKey });
  const measured: { name: string; values: number[] }[] = [];
  for (const [name, filter] of Object.entries(PAGES)) {
    for (const [place, cursor] of [
      ['first', ''],
      ['far', `&cursor=${Math.round(CHANGES / 3)}`],
    ]) {
      const target = `/history?limit=${LIMIT}&${filter}${cursor}`;
      const entries = await send<unknown[]>(client, 'GET', target);
      if (entries.length < LIMIT) throw new Error(`${target}: only ${entries.length} entries`);
      measured.push({ name: `${name}, ${place}`, values: await timesOf(client, target) });
    }
  }
  const [worst] = measured.toSorted((a, b) => spread(b.values).median - spread(a.values).median);
  return figure({
    what: `${engine}: a page of ${LIMIT} of the history at 1,000,000 events (worst: ${worst!.name})`,
    target: WITHIN,
    values: worst!.values,
    digits: 1,
    absolute: `${measured.map(({ name, values }) => `${name} ${spread(values).median.toFixed(1)}`).join('; ')} ms`,
  });
}

async function timesOf(client: Client, target: string): Promise<number[]> {
  const times: number[] = [];
  while (times.length < REPETITIONS) {
    const read = async () => (await respond(client, 'GET', target)).resume().toArray();
    times.push(await milliseconds(read));
  }
  return times;
}

/** Returns a store in which a pet changed every hundredth time, a key made one change in 1,000, and the others another key. */
async function storeWithHistory(env: NodeJS.ProcessEnv): Promise<Store & { apiKey: string }> {
  await using server = await startService({ env });
  const { apiKey } = await prepareService(server);
  const store = { dataDirectory: server.dataDirectory, env, apiKey };
  await server[Symbol.asyncDispose]();
  const db = await openStore(store);
  const { last } = (await db.get<{ last: number }>('SELECT max(id) AS last FROM events'))!;
  await db.run(
    `INSERT INTO events (id, type, subject, time, actor, name, related, old_values, data) ${numbersTo(CHANGES)}
     SELECT ${last} + n,
       CASE n % 1000 WHEN 100 THEN 'order.placed' WHEN 500 THEN 'inventory.updated' ELSE 'pet.updated' END,
       CASE WHEN n % 1000 = 100 THEN 'store/orders/' || n WHEN n % 100 = 0 THEN 'pets/1' ELSE 'pets/' || (n % 5000) END,
       ${Date.now() - CHANGES} + n, CASE WHEN n % 1000 = 0 THEN 'keys/2' ELSE 'keys/1' END, 'Bella the Labrador',
       CASE WHEN n % 1000 = 100 THEN 'pets/1' END, '[["name","Bella"]]',
       '{"id":1,"name":"Bella the Labrador","categoryId":1,"status":"available"}' FROM numbers`,
  );
  if (db.engine === 'postgres') {
    await db.run(`UPDATE event_log SET last_id = ${last + CHANGES}`);
    // As the server does by itself within a minute.
    await db.run('ANALYZE events');
  }
  const { count } = (await db.get<{ count: number }>(
    "SELECT count(*) AS count FROM events WHERE subject = 'pets/1' OR related = 'pets/1'",
  ))!;
  if (count < CHANGES_OF_PET) throw new Error(`The pet has only ${count} changes`);
  await db.close();
  return store;
}
