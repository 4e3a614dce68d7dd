import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { InvalidListing } from '../kit/paging.ts';
import { assignedId, boolean, foldedText, integer, optional, text } from './columns.ts';
import { defineList } from './define-list.ts';
import { indexesOf } from './indexes.ts';
import { anyOf, below, from, is, type ListDeclaration, oneOf, search, startsWith, unique } from './list.ts';
import { describeCombinations, describeSorts, sortOf } from './list-rules.ts';
import { selectPage } from './select-page.ts';
import { Table } from './table.ts';

interface Kennel {
  id: number;
  name: string;
  code: string;
  places: number;
  opened?: number;
  heated: boolean;
}

const kennels = new Table<Kennel>('kennels', {
  id: assignedId,
  name: foldedText('name', 'name_key'),
  code: text('code'),
  places: integer('places'),
  opened: optional(integer('opened')),
  heated: boolean('heated'),
});

const table = 'CREATE TABLE kennels (\n  id INTEGER PRIMARY KEY,\n  code TEXT NOT NULL UNIQUE\n);\n';

/** Indexes by name, each as on PostgreSQL; SQLite has the same columns. */
function indexes(definitions: Record<string, string>) {
  const create = (name: string, columns: string) =>
    `CREATE INDEX ${name} ON kennels ${columns.replace(/\) WHERE/, ')\n  WHERE')};`;
  const postgres = Object.entries(definitions).map(([name, columns]) => create(name, columns));
  const sqlite = postgres.map(sql => sql.replaceAll(/\((\w+) [^()]+\)/g, '$1').replace(/, id\)/, ')'));
  return indexesOf('kennels', { postgres: table + postgres.join('\n'), sqlite: table + sqlite.join('\n') });
}

const texts = { type: 'string' } as const;
const number = { type: 'integer' } as const;
const sorts = { id: ['id'], name: ['name', 'id'] } as const;
const byHeat = {
  kennels_by_heat: '(heated, (id - 1))',
  kennels_by_heat_and_name: '(heated, name_key, (id - 2))',
};
const filters = { heated: is('heated', { type: 'boolean' }), name: startsWith('name', texts) };

/** A list by heat and name, with additional filters and indexes. */
function withFilter(
  more: ListDeclaration<keyof Kennel>['filters'],
  also: Record<string, string>,
  all: ListDeclaration<keyof Kennel>['sorts'] & typeof sorts = sorts,
) {
  const declaration = { filters: { ...filters, ...more }, sorts: all, defaultSort: 'id' } as const;
  return defineList(kennels, declaration, indexes({ ...byHeat, ...also }));
}

const byPlaces = () =>
  withFilter({ places: is('places', number) }, { kennels_by_places: '(places, (id - 3))' });

describe('a list with one index for a new filter', () => {
  it('combines what the indexes serve', () => {
    assert.deepEqual(
      [...byPlaces().served],
      [
        ['', ['id', 'name']],
        ['heated', ['id', 'name']],
        ['name', ['name']],
        ['heated,name', ['name']],
        ['places', ['id']],
      ],
    );
  });

  it('rejects everything else with what combines, before any query', async () => {
    const db = new Proxy({}, { get: () => assert.fail('the store was read') });
    const rejected: [query: object, message: string][] = [
      [
        { places: 1, heated: true },
        'Query parameters `heated` and `places` cannot be combined: send only `heated`, or only `places`',
      ],
      [
        { places: 1, heated: true, name: 'a' },
        'Query parameters `heated`, `name` and `places` cannot be combined: send only `heated` and `name`, or only ' +
          '`places`',
      ],
      [
        { places: 1, sort: '-name' },
        'Query parameter `sort` must be `id` or `-id` when the list is filtered by `places`, but was `-name`; for that ' +
          'order, leave out `places`',
      ],
    ];
    for (const [query, message] of rejected) {
      await assert.rejects(selectPage(db as never, byPlaces(), query), (error: unknown) => {
        assert.ok(error instanceof InvalidListing);
        assert.equal(error.message, message);
        return true;
      });
    }
  });

  it('describes what combines', () => {
    const list = byPlaces();
    assert.equal(describeCombinations(list, 'places'), ' It combines with no other filter.');
    assert.equal(describeCombinations(list, 'heated'), ' Of the other filters, it combines with `name`.');
    assert.equal(
      describeSorts(list),
      'The order of the list; a leading `-` means descending. The default is `id`. A list that is filtered by `name` can only ' +
        'be sorted by `name` or `-name`; its default is `name`. A list that is filtered by `places` can only be sorted by ' +
        '`id` or `-id`; its default is `id`.',
    );
    assert.equal(describeCombinations(withFilter({}, {}), 'heated'), '');
  });

  it('combines a unique column and a list of IDs with everything', () => {
    const list = withFilter({ code: unique('code', texts), ids: oneOf('id', number) }, {});
    assert.equal(list.served.size, 16);
    for (const [set, names] of list.served)
      assert.deepEqual(names, set.includes('name') ? ['name'] : ['id', 'name'], set);
    assert.equal(sortOf(list, { code: 'a', heated: true, sort: '-name' }), '-name');
  });

  it('serves no set of which a part is not served', () => {
    const list = withFilter(
      { places: is('places', number), ids: oneOf('id', number) },
      { kennels_by_places: '(places, (id - 3))' },
    );
    assert.deepEqual(list.served.get('places,ids'), ['id', 'name']);
    assert.equal(list.served.has('heated,places,ids'), false);
  });

  it('has a default sort for each set of filters', () => {
    assert.equal(sortOf(byPlaces(), {}), 'id');
    assert.equal(sortOf(byPlaces(), { name: 'a' }), 'name');
    assert.equal(sortOf(byPlaces(), { places: 1 }), 'id');
  });

  it('sorts by a column that can be null only within a range', () => {
    const declaration = {
      filters: { since: from('opened', number), before: below('opened', number) },
      sorts: { id: ['id'], opened: ['opened', 'id'] },
      defaultSort: '-id',
    } as const;
    const all = { kennels_by_opening: '(opened, (id - 1)) WHERE opened IS NOT NULL' };
    const list = defineList(kennels, declaration, indexes(all));
    assert.deepEqual([...list.served.values()], [['id'], ['opened'], ['opened'], ['opened']]);
    assert.equal(sortOf(list, {}), '-id');
    assert.throws(() => sortOf(list, { sort: 'opened' }), /; for that order, filter by `since` or `before`$/);
  });

  it('rejects a sort with what to change, whatever the reason, and that is served', () => {
    const list = withFilter(
      {
        q: search('name', texts),
        code: unique('code', texts),
        places: is('places', number),
        since: from('opened', number),
      },
      {
        kennels_by_places: '(places, (id - 3))',
        kennels_by_opening: '(opened, (id - 4)) WHERE opened IS NOT NULL',
      },
      { ...sorts, opened: ['opened', 'id'] },
    );
    type Query = Readonly<Record<string, unknown>>;
    const rejected: [query: Query, message: string, ...remedies: Query[]][] = [
      // No index has the order.
      [
        { places: 1, sort: 'name' },
        'must be `id` or `-id` when the list is filtered by `places`, but was `name`; for that order, also filter by `code`, ' +
          'or leave out `places`',
        ...[{ places: 1, sort: 'id' }, { places: 1, code: 'a', sort: 'name' }, { sort: 'name' }],
      ],
      // The only row could be in any order.
      [
        { code: 'a', name: 'b', sort: '-id' },
        'must be `name` or `-name` when the list is filtered by `name` and `code`, but was `-id`; for that order, leave out ' +
          '`name`',
        ...[
          { code: 'a', name: 'b', sort: '-name' },
          { code: 'a', sort: '-id' },
        ],
      ],
      // An index has the order, but not the rows without a value.
      [
        { code: 'a', sort: 'opened' },
        'must be `id`, `-id`, `name` or `-name` when the list is filtered by `code`, but was `opened`; for that order, also ' +
          'filter by `since`',
        ...[
          { code: 'a', sort: '-name' },
          { code: 'a', since: 1, sort: 'opened' },
        ],
      ],
      // The order needs another filter instead of this one.
      [
        { heated: true, sort: 'opened' },
        'must be `id`, `-id`, `name` or `-name` when the list is filtered by `heated`, but was `opened`',
        { heated: true, sort: '-id' },
      ],
      [
        { q: 'a', sort: 'name' },
        'cannot be combined with `q`, which has an order of its own: leave one of them out',
        ...[{ q: 'a' }, { sort: 'name' }],
      ],
    ];
    for (const [query, message, ...remedies] of rejected) {
      assert.throws(() => sortOf(list, query), {
        message: `Query parameter \`sort\` ${message}`,
      });
      for (const remedy of remedies) assert.equal(sortOf(list, remedy), remedy.sort);
    }
  });

  it('belongs to an owner when its indexes start with the owner', () => {
    const declaration = { owner: 'places', filters: {}, sorts: { id: ['id'] }, defaultSort: 'id' } as const;
    const owned = { kennels_by_places: '(places, (id - 1))' };
    assert.equal(defineList(kennels, declaration, indexes(owned)).owner, 'places');
    assert.throws(() => defineList(kennels, declaration, indexes(byHeat)), /no index has the order `id`$/);
  });
});

describe('a declaration that cannot be served', () => {
  const rejected: [reason: string, define: () => unknown, message: RegExp][] = [
    [
      'a filter without an index',
      () => withFilter({ places: is('places', number) }, {}),
      /^Error: The list of kennels cannot be served: `places` needs an index of places that ends with the columns of a sort$/,
    ],
    [
      'a filter whose index has another column first',
      () => withFilter({ places: anyOf('places', number) }, { kennels_by_code: '(code, places, (id - 3))' }),
      /`places` needs an index/,
    ],
    [
      'a filter whose index leaves out rows',
      () =>
        withFilter({ places: is('places', number) }, { some_kennels: '(places, (id - 3)) WHERE heated = 1' }),
      /`places` needs an index/,
    ],
    [
      'a range of a property that no sort starts with',
      () => withFilter({ fewer: below('places', number) }, { kennels_by_places: '(places, (id - 3))' }),
      /`fewer` needs an index/,
    ],
    [
      'a key that is not unique',
      () => withFilter({ places: unique('places', number) }, { kennels_by_places: '(places, (id - 3))' }),
      /`places` needs a unique index of places$/,
    ],
    [
      'a sort without an index',
      () => defineList(kennels, { filters: {}, sorts, defaultSort: 'id' }, indexes({})),
      /no index has the order `name`$/,
    ],
    [
      'a sort that only the rows of a unique column have',
      () => withFilter({ ids: oneOf('id', number) }, {}, { ...sorts, places: ['places', 'id'] }),
      /no index has the order `places`$/,
    ],
    [
      'a sort by a column that can be null, without a range',
      () =>
        withFilter({}, { kennels_by_opening: '(opened, (id - 4))' }, { ...sorts, opened: ['opened', 'id'] }),
      /`opened` sorts by a column that can be null, so its order needs a filter by a range of that column$/,
    ],
    [
      'a default sort without an index',
      () => defineList(kennels, { filters: {}, sorts, defaultSort: '-name' }, indexes({})),
      /no index has the order `-name`$/,
    ],
    [
      'the place of another index on PostgreSQL',
      () => withFilter({ places: is('places', number) }, { kennels_by_places: '(places, (id - 1))' }),
      /^Error: PostgreSQL could read pages of kennels from kennels_by_places instead of kennels_by_heat, because both have \(id - 1\)/,
    ],
    [
      'the sort column of another index on PostgreSQL',
      () =>
        withFilter({ places: is('places', number) }, { kennels_by_places: '(places, name_key, (id - 3))' }),
      /because both have name_key: write another expression/,
    ],
  ];
  for (const [reason, define, message] of rejected) {
    it(`because of ${reason} does not start`, () => {
      assert.throws(define, message);
    });
  }

  it('starts with an expression of its own for the same sort column', () => {
    const list = withFilter(
      { places: is('places', number) },
      { kennels_by_places: "(places, (name_key || ''), (id - 3))" },
    );
    assert.deepEqual(list.served.get('places'), ['name']);
  });

  it('never combines two filters of one column', () => {
    const list = withFilter(
      { places: is('places', number), anyPlaces: anyOf('places', number) },
      { kennels_by_places: '(places, (id - 3))' },
    );
    assert.equal(list.served.has('places,anyPlaces'), false);
  });
});

describe('the indexes of a table', () => {
  const sqlite = `${table}CREATE INDEX by_name ON kennels (name_key);`;

  it('must be the same on both engines', () => {
    assert.throws(
      () => indexesOf('kennels', { sqlite, postgres: table }),
      /^Error: The index by_name of kennels is missing on PostgreSQL and \(name_key\) on SQLite$/,
    );
    assert.throws(
      () =>
        indexesOf('kennels', {
          sqlite,
          postgres: `${table}CREATE INDEX by_name ON kennels (code, (id - 1));`,
        }),
      /is \(code\) on PostgreSQL and \(name_key\) on SQLite$/,
    );
  });

  it('are those that no later migration drops', () => {
    for (const how of ['', 'IF EXISTS ']) {
      const dropped = `${sqlite}\nDROP INDEX ${how}by_name;`;
      assert.deepEqual(
        indexesOf('kennels', { sqlite: dropped, postgres: dropped }).map(({ columns }) => columns),
        [['id'], ['code']],
      );
    }
  });
});
