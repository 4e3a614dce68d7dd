import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import * as categories from '../../src/catalog/categories/categories.ts';
import * as pets from '../../src/catalog/pets/pets.ts';
import type { Schema } from '../../src/contract/schema.ts';
import type { Database, Value } from '../../src/db/database.ts';
import { type FeatureServices, featuresOf, routesOf } from '../../src/features.ts';
import { Context } from '../../src/routes/context.ts';
import type { AnyContext, Route } from '../../src/routes/define-route.ts';
import type { MessageSink } from '../../src/routes/message-sink.ts';
import { engines } from '../support/engines.ts';
import { fillLists } from '../support/full-lists.ts';
import { exampleRoutes } from './misused/queries.ts';

const caller = { keyId: 1, kind: 'secret', scopes: new Set(['admin']) };

/** What a request with a query does: its statements, and what it returns or sends. */
type Effect = (route: Route, query: object) => Promise<string>;

/** Two values that each fit the schema of a parameter. */
function valuesOf(name: string, schema: Schema): [unknown, unknown] {
  if (name === 'cursor') return [schema.example, schema.example === '0' ? '1' : schema.example];
  if (schema.enum) return [schema.enum[0], schema.enum[1]];
  if (schema.items) return valuesOf(name, schema.items).map(value => [value]) as [unknown, unknown];
  if (schema.type === 'boolean') return [true, false];
  if (schema.type === 'integer') return [1, 2];
  if (schema.format === 'date-time') return ['2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z'];
  return name === 'subject' ? ['pets/1', 'pets/2'] : ['Biscuit', 'Éclair'];
}

/** The parameters of a route that change nothing in a request with the query `base`, whatever their value. */
async function ignoredBy(route: Route, effect: Effect, base: object = {}): Promise<string[]> {
  const parameters = Object.entries(route.query?.properties ?? {});
  const defaults = Object.fromEntries(
    parameters.flatMap(([name, schema]) => (schema.default === undefined ? [] : [[name, schema.default]])),
  );
  const without = await effect(route, { ...defaults, ...base });
  const ignored: string[] = [];
  for (const [name, schema] of parameters) {
    const effects = await Promise.all(
      valuesOf(name, schema).map(value => effect(route, { ...defaults, ...base, [name]: value })),
    );
    if (effects.every(one => one === without)) ignored.push(name);
  }
  return ignored;
}

/** Opens a store with some rows of each list and some events, and returns the routes with what they do on it. */
async function shopOf(t: TestContext): Promise<{ routes: Route[]; effect: Effect }> {
  const { db } = await engines.SQLite!(t);
  await fillLists(db, { pets: 3, others: 3 });
  const { id: categoryId } = await categories.create(db, { name: 'Dogs' });
  for (const name of ['Biscuit', 'Éclair']) await pets.create(db, { name, categoryId });
  let trace: unknown[] = [];
  let disconnected = new AbortController();
  const services = {
    keyLimits: { statesOf: async () => new Map() },
    readStandings: async () => new Map([[1, { keyId: 1, ended: undefined, scopes: caller.scopes }]]),
    tail: {
      follow: () => {
        trace.push('follow');
        // A wait for events ends at once.
        disconnected.abort();
        return () => {};
      },
      position: 3,
      catchUp: (read: () => Promise<unknown>) => read(),
    },
    source: '/',
  };
  const waiting = new Set<Promise<unknown>>();
  const recorded = <Result>(sql: string, values: readonly Value[] = [], send: () => Promise<Result>) => {
    trace.push([sql, values]);
    const result = send();
    waiting.add(result);
    return result.finally(() => waiting.delete(result));
  };
  const recorder = Object.create(db, {
    get: {
      value: (...query: Parameters<Database['get']>) => recorded(query[0], query[1], () => db.get(...query)),
    },
    all: {
      value: (...query: Parameters<Database['all']>) => recorded(query[0], query[1], () => db.all(...query)),
    },
  }) as Database;

  const run = async (route: Route, query: object): Promise<void> => {
    const params = Object.fromEntries(Object.keys(route.params?.properties ?? {}).map(name => [name, 1]));
    const context = new Context(
      { receivedAt: 0, caller, headers: {} } as never,
      {} as never,
      params,
      query,
      {},
      recorder,
    );
    disconnected = new AbortController();
    // There is no response that could close.
    Object.defineProperties(context, {
      signal: { value: disconnected.signal },
      closed: { value: new AbortController().signal },
    });
    const reply = await route.handler(context as AnyContext);
    if (reply.kind !== 'stream') {
      trace.push(reply);
      return;
    }
    const closing = Promise.withResolvers<void>();
    const sink: Partial<MessageSink> = {
      send: messages => {
        trace.push(messages.map(String));
        return true;
      },
      onBeat: () => {},
      onDrain: () => {},
      onClose: listener => void closing.promise.then(listener),
    };
    reply.start(sink as MessageSink, async () => undefined);
    while (waiting.size > 0) await Promise.all(waiting);
    closing.resolve();
  };

  let queue = Promise.resolve();
  const effect: Effect = (route, query) => {
    const result = queue.then(async () => {
      trace = [];
      await run(route, query).catch(error => trace.push(String(error)));
      return JSON.stringify(trace);
    });
    queue = result.then(() => {});
    return result;
  };
  return { routes: routesOf(featuresOf(services as unknown as FeatureServices)), effect };
}

/** Requests to which a parameter is added: some parameters matter only before, at or after the end of the log of events. */
const bases: readonly object[] = [{}, { cursor: '0' }, { cursor: '3' }];

describe('a query parameter', () => {
  it('changes what the operation reads or returns', async t => {
    const { routes, effect } = await shopOf(t);
    const withQuery = routes.filter(({ query }) => query);
    assert.ok(withQuery.length >= 9);
    for (const route of withQuery) {
      const sets = [];
      for (const base of bases) sets.push(new Set(await ignoredBy(route, effect, base)));
      assert.deepEqual([...sets.reduce((all, some) => all.intersection(some))], [], route.operationId);
    }
  });

  it('changes it in a search as well, or is rejected', async t => {
    const { routes, effect } = await shopOf(t);
    const list = routes.find(({ operationId }) => operationId === 'listPets')!;
    assert.deepEqual(await ignoredBy(list, effect, { q: 'bis', limit: 20 }), []);
  });

  it('is found when the operation ignores it', async t => {
    const { effect } = await shopOf(t);
    const found = await Promise.all(
      exampleRoutes.map(async route => [route.operationId, ...(await ignoredBy(route, effect))]),
    );
    assert.deepEqual(found, [
      ['readNoColour', 'colour'],
      ['readNoCount', 'count'],
    ]);
  });
});
