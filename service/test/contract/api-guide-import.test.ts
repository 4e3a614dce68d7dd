import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { aCategory, stockOf } from '../support/factories.ts';
import { importFromGuide } from '../support/guide-code.ts';
import { dataDirectory } from '../support/service-process.ts';
import { startTestApp } from '../support/test-app.ts';
import { valuesOf } from '../support/values.ts';

type Shop = (path: string, options?: object) => Promise<Response>;
type PetStore = (
  origin: string,
  key: string,
  wait: (milliseconds: number) => Promise<void>,
  now: () => number,
) => Shop;
type ImportPets = (
  shop: Shop,
  file: string,
  options: { from?: number; size: number },
) => Promise<{ line: number; message: string }[]>;

/** The program of the guide, with the clock of a service, and a key that has used all requests but two of `quotas`. */
async function startImport(t: TestContext, quotas: { perMinute: number; perDay: number }) {
  const [petStore, importPets] = (await Promise.all([
    importFromGuide(t, 'petStore'),
    importFromGuide(t, 'importPets'),
  ])) as [PetStore, ImportPets];
  const { api, clock, origin, clientWith } = await startTestApp(t);
  const scopes = ['pets:read', 'pets:write', 'inventory:write'];
  const { key, ...client } = await clientWith({ plan: 'enterprise', scopes, quotas });
  const reads = Math.min(quotas.perMinute, quotas.perDay) - 2;
  for (let i = 0; i < reads; i++) assert.equal((await api.as(key).get('/pets?limit=1')).status, 200);
  const responses: Response[] = [];
  const waits: number[] = [];
  const wait = async (milliseconds: number) => {
    waits.push(milliseconds);
    clock.advance(Math.ceil(milliseconds));
  };
  const call = petStore(origin, key, wait, () => clock.now());
  const shop: Shop = async (path, options) => {
    const response = await call(path, options);
    responses.push(response);
    return response;
  };
  const categoryId = await aCategory(api);
  const created = async () => {
    const pages = await api.get('/pets?limit=100');
    return (pages.body as { id: number; name: string }[]).filter(({ name }) => name.startsWith('Import '));
  };
  return { ...client, api, clock, shop, importPets, categoryId, responses, waits, created };
}

/** Writes a file of 42 rows. `replaced` has the text of other lines, by line number. */
function writeRows(t: TestContext, categoryId: number, replaced: Record<number, string> = {}): string {
  const file = join(dataDirectory(t), 'pets of Été.ndjson');
  const row = (line: number) => JSON.stringify({ name: `Import ${line}`, categoryId, quantity: line });
  const lines = Array.from({ length: 42 }, (_, i) => replaced[i + 1] ?? row(i + 1));
  writeFileSync(file, `${lines.join('\n')}\n`);
  return file;
}

describe('the import in the guide to the API', () => {
  it('imports a file despite a limit, reports rejected lines, and creates nothing twice when it is repeated', async t => {
    const { api, shop, importPets, categoryId, responses, waits, created } = await startImport(t, {
      perMinute: 50,
      perDay: 10_000,
    });
    const file = writeRows(t, categoryId, {
      3: '{"name": "Import 3"',
      7: `{"name": "Import 7", "categoryId": 987654321, "quantity": 7}`,
      12: `{"name": "Import 12", "categoryId": ${categoryId}, "quantity": -1}`,
      20: `{"name": " ", "categoryId": ${categoryId}}`,
      25: '5',
      31: `{"name": "Import 31", "categoryId": ${categoryId}}`,
    });

    const rejected = await importPets(shop, file, { size: 10 });
    assert.ok(waits.length > 0, 'the limit was never reached');
    const pets = await created();
    const names = Array.from({ length: 42 }, (_, i) => `Import ${i + 1}`);
    const missing = new Set(['Import 3', 'Import 7', 'Import 20', 'Import 25']);
    assert.deepEqual(
      valuesOf(pets, 'name'),
      names.filter(name => !missing.has(name)),
    );
    for (const { id, name } of pets) {
      const line = Number(name.split(' ')[1]);
      const withoutStock = line === 12 || line === 31;
      assert.deepEqual(await stockOf(api, id), ['available', withoutStock ? 1 : line], name);
    }
    const messages = rejected.toSorted((a, b) => a.line - b.line);
    assert.deepEqual(valuesOf(messages, 'line'), [3, 7, 12, 20, 25]);
    const unstocked = pets.find(({ name }) => name === 'Import 12')!.id;
    for (const [i, expected] of [
      /JSON/,
      /987654321/,
      new RegExp(`^/pets/${unstocked} without its stock: .*quantity`),
      /name/,
      /name/,
    ].entries()) {
      assert.match(messages[i]!.message, expected);
    }

    const before = responses.length;
    assert.deepEqual(await importPets(shop, file, { size: 10 }), rejected);
    assert.deepEqual(
      responses.slice(before).map(({ headers }) => headers.get('idempotency-replayed')),
      Array(5).fill('true'),
    );
    assert.deepEqual(await created(), pets);
  });

  it('stops at the limit of the day, and continues at the line that its error names', async t => {
    const { clock, shop, importPets, categoryId, responses, created } = await startImport(t, {
      perMinute: 1_000,
      perDay: 100,
    });
    const file = writeRows(t, categoryId);
    const error: Error = await importPets(shop, file, { size: 10 }).then(
      () => assert.fail('it finished'),
      reason => reason,
    );
    const [, from] = /^Continue at line (\d+): .*day/.exec(error.message)!;
    clock.set('2026-11-22T00:00:00Z');
    const before = responses.length;
    assert.deepEqual(await importPets(shop, file, { size: 10, from: Number(from) }), []);
    const later = responses.slice(before);
    assert.equal(later.length, 5 - (Number(from) - 1) / 10, 'batches before that line were left out');
    assert.ok(later.every(({ headers }) => headers.get('idempotency-replayed') === null));
    assert.equal((await created()).length, 42);
  });

  it('stops when a line of the file has changed', async t => {
    const { shop, importPets, categoryId, created } = await startImport(t, {
      perMinute: 50,
      perDay: 10_000,
    });
    const bad = { 15: '{"name": "Import 15", "categoryId": 987654321}' };
    const [{ line } = { line: 0 }] = await importPets(shop, writeRows(t, categoryId, bad), { size: 10 });
    assert.equal(line, 15);
    await assert.rejects(
      importPets(shop, writeRows(t, categoryId), { size: 10 }),
      /^Error: Continue at line 11: .*Idempotency-Key/,
    );
    assert.equal((await created()).length, 41);
  });
});
