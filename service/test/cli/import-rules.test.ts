import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import { CategoryNames } from '../../../pet-files/src/category-names.ts';
import { exportedColumns, fields } from '../../../pet-files/src/columns.ts';
import { ExistingPets, RowNames } from '../../../pet-files/src/existing-pets.ts';
import { newPetOf, petOf, rules } from '../../../pet-files/src/pet-rules.ts';
import { TextReader } from '../../../pet-files/src/text-reader.ts';
import { ConflictError } from '../../../sdk/dist/errors.js';
import { document, type ParameterObject } from '../contract/document.ts';
import { readProjectFile } from '../support/deploy-files.ts';

for (const encoding of ['utf-8', 'utf-16le'] as const)
  it(`a file in ${encoding} without line breaks has its characters also where its parts divide them`, () => {
    const text = '🐢'.repeat(300_000);
    const bytes = Buffer.from(text, encoding);
    const reader = new TextReader(encoding);
    let read = '';
    for (let at = 0; at < bytes.length; at += 65_535) read += reader.read(bytes.subarray(at, at + 65_535));
    assert.ok(read + reader.end() === text);
  });

describe('the rules of petstore import', () => {
  it('are those of the contract', () => {
    const { NewPet, PetStatus, InventoryUpdate } = document.components.schemas;
    const { maxLength, pattern } = NewPet!.properties!.name!;
    assert.deepEqual(rules.name, { maxLength, pattern });
    assert.deepEqual(rules.status, PetStatus!.enum);
    const { minimum, maximum } = InventoryUpdate!.properties!.quantity!;
    assert.deepEqual({ minimum: 0, ...rules.quantity }, { minimum, maximum });
  });

  it('count the characters of a name as the contract does', () => {
    const rowOf = (length: number) => ({ name: '🐶'.repeat(length), categoryId: '7' });
    assert.equal(petOf(rowOf(200)).name, '🐶'.repeat(200));
    assert.throws(() => petOf(rowOf(201)), { field: 'name' });
  });

  it('know the statuses in German, French and Spanish, in small and capital letters', () => {
    for (const [status, words] of Object.entries({
      available: ['Verfügbar', 'disponible', 'En stock'],
      pending: ['RESERVIERT', 'Réservée', 'reservado'],
      sold: ['ausverkauft', 'VENDU', 'Vendida'],
    }))
      for (const word of words)
        assert.equal(petOf({ name: 'Rex', categoryId: '7', status: word }).status, status, word);
  });

  it('reject a status that contradicts the quantity', () => {
    for (const [status, quantity] of [
      ['sold', '1'],
      ['available', '0'],
    ])
      assert.throws(() => petOf({ name: 'Rex', categoryId: '7', status, quantity }), {
        code: 'invalid_request',
        field: 'quantity',
      });
  });

  it('import and export every field of a pet, as the README states', () => {
    const { NewPet, Pet } = document.components.schemas as Record<
      string,
      {
        properties: Record<string, { example?: unknown; readOnly?: boolean }>;
        example: Record<string, unknown>;
      }
    >;
    const columns = [...Object.keys(Pet!.properties), 'category', 'quantity'];
    assert.deepEqual(exportedColumns.toSorted(), columns.toSorted());
    const documented = readProjectFile('cli/README.md').matchAll(/^\| `(\w+)` +\| \S/gm);
    assert.deepEqual(
      Array.from(documented, ([, name]) => name),
      fields,
    );
    for (const [field, { example = NewPet!.example[field], readOnly }] of Object.entries(
      NewPet!.properties,
    )) {
      if (readOnly) continue;
      assert.notEqual(example, undefined, `${field} has no example`);
      const row = { name: 'Rex', categoryId: '7', [field]: String(example) };
      const created: Record<string, unknown> = { ...newPetOf(petOf(row), Number(row.categoryId)) };
      assert.equal(created[field], example, field);
    }
  });
});

it('an import sends its requests with the options of its calls, such as the signal that ends it', async () => {
  const calls = { signal: new AbortController().signal };
  const used: unknown[] = [];
  const list = (_: object, options: unknown) => {
    used.push(options);
    return Readable.from([]);
  };
  const create = (category: object, options: unknown) => {
    used.push(options);
    return { withResponse: async () => ({ data: { id: 3, ...category } }) };
  };
  const names = new CategoryNames({ categories: { list, create } } as never, calls, {
    creates: true,
    howTo: '',
  });
  assert.equal(await names.find('Owls'), 3);
  await new ExistingPets({ pets: { list } } as never, calls).has('Rex', 3);
  assert.equal(used.length, 3);
  assert.ok(used.every(options => options === calls));
});

it('an import uses a category that another program has created meanwhile', async () => {
  const lists = [[], [{ id: 3, name: 'Owls' }]];
  const create = () => ({ withResponse: () => Promise.reject(new ConflictError('The name exists')) });
  const categories = { list: () => lists.shift(), create };
  const names = new CategoryNames({ categories } as never, {}, { creates: true, howTo: '' });
  assert.equal(await names.find('owls'), 3);
  assert.deepEqual(names.created, []);
});

it('an import compares the names of categories as the service does', async () => {
  for (const [name, other] of [
    ['Straße', 'STRASSE'],
    ['κόκορασ', 'ΚΌΚΟΡΑΣ'],
    ['Ba\u0308ren', 'Bären'],
    ['ροΐδι', 'ΡΟΪ\u0301ΔΙ'],
  ] as const) {
    const categories = { list: () => [{ id: 3, name }] };
    const names = new CategoryNames({ categories } as never, {}, { creates: false, howTo: '' });
    assert.equal(await names.find(other), 3);
    const rows = new RowNames(new ExistingPets({} as never, {}));
    assert.equal(await rows.findOrAdd('Rex', name), false);
    assert.equal(await rows.findOrAdd('Rex', other), true, 'also those of new categories');
  }
});

it('an import reads the pets of a category again after a failure', async () => {
  const pets = [Promise.reject(new Error('planted')), Promise.resolve({ name: 'Rex' })];
  const list = () => Readable.from([pets.shift()]);
  const existing = new ExistingPets({ pets: { list } } as never, {});
  await assert.rejects(existing.has('Rex', 3), { message: 'planted' });
  assert.equal(await existing.has('Rex', 3), true);
});

it('an import reads the pets of a category once, on pages as large as the contract allows', async () => {
  const { parameters } = document.paths['/pets']!.get as { parameters: ParameterObject[] };
  const { maximum } = parameters.find(({ name }) => name === 'limit')!.schema;
  const queries: object[] = [];
  const list = (query: object) => {
    queries.push(query);
    return Readable.from([{ name: 'Rex' }]);
  };
  const existing = new ExistingPets({ pets: { list } } as never, {});
  assert.deepEqual([await existing.has('Rex', 3), await existing.has('Mia', 3)], [true, false]);
  assert.deepEqual(queries, [{ categoryId: 3, limit: maximum }]);
});
