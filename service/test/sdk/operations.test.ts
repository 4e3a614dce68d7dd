import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { contractFile } from '../support/contract-file.ts';
import { importClient } from '../support/packed-client.ts';

const { PetStore } = await importClient();

interface Operation {
  'x-deprecated-sunset'?: string;
}

const { paths }: { paths: Record<string, Record<string, Operation>> } = parse(
  readFileSync(contractFile, 'utf8'),
);
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    name: `${method.toUpperCase()} ${path}`,
    sunset: operation['x-deprecated-sunset'],
  })),
);

type Method = (...values: unknown[]) => Promise<unknown> & { next?: Method };

/** Calls a method of a resource. Returns the requests that it sends, as `METHOD /path`. */
async function requestsOf(resource: string, method: string): Promise<string[]> {
  const sent: string[] = [];
  const end = new AbortController();
  const store = new PetStore({
    baseUrl: 'http://petstore.example/api',
    fetch: async (url, { method }) => {
      sent.push(`${method} ${new URL(url).pathname.replace('/api/', '/')}`);
      end.abort(new Error('sent'));
      // Neither a list nor an object is right for every operation: only the request matters here.
      return new Response('', { status: 400 });
    },
  });
  const methods = Object.entries(store).find(([name]) => name === resource)![1] as Record<string, Method>;
  if (method === 'subscribe') await assert.rejects(methods.subscribe!({ signal: end.signal }).next!());
  else {
    // A list takes a query after the IDs of its path, other operations a body.
    const ids = method === 'list' ? [] : [11, method === 'listDeliveries' ? {} : 12];
    const call = methods[method]!(...(resource === 'batches' ? [{ operations: [] }] : ids));
    await assert.rejects(async () => void (await call));
  }
  return sent;
}

describe('the class PetStore', () => {
  it('has exactly one method for each operation of the contract that is not deprecated', async () => {
    const store = new PetStore({ baseUrl: 'http://petstore.example' });
    const sent: string[] = [];
    for (const [resource, methods] of Object.entries(store))
      for (const method of Object.keys(methods)) sent.push(...(await requestsOf(resource, method)));
    const present = operations.filter(({ sunset }) => sunset === undefined);
    const wanted = present.map(({ name }) => name.replace('{deliveryId}', '12').replace(/\{\w+\}/, '11'));
    // Two methods use the list of pets: to list them, and to get one.
    assert.deepEqual(sent.toSorted(), [...wanted, 'GET /pets'].toSorted());
  });

  it('marks exactly the deprecated operations, with the day on which they end', () => {
    const files = globSync(join(import.meta.dirname, '../../../sdk/src/resources/*.ts'));
    const sources = files.map(file => readFileSync(file, 'utf8')).join('');
    for (const { name, sunset } of operations) {
      const [before = '', after] = sources.split(`(client, '${name}'`);
      if (after === undefined) continue;
      const [, deprecation] = /@deprecated It ends on (\S+):/.exec(before.split('/**').at(-1)!) ?? [];
      assert.equal(deprecation, sunset, name);
    }
  });
});
