import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pet } from '@petstore/client';
import { QueryClient } from '@tanstack/react-query';
import {
  addItem,
  announceItem,
  knownKey,
  type ListData,
  listKey,
  MOST_WAITING,
  markGone,
  putBack,
  putItem,
  removeItem,
} from './list-cache.ts';
import { pets } from './pets.ts';

const petOf = (id: number): Pet => ({ id, name: `Pet ${id}`, categoryId: 1, status: 'available' });

/** A cache with a list of some pages of 100. */
function cacheWith(pageCount: number) {
  const cache = new QueryClient({ defaultOptions: { queries: { structuralSharing: false } } });
  const pages = Array.from({ length: pageCount }, (_, page) => ({
    items: Array.from({ length: 100 }, (_, i) => petOf(page * 100 + i + 1)),
    next: undefined,
    total: page === 0 ? { count: pageCount * 100, hasMore: false } : undefined,
    gone: [],
    waiting: [],
  }));
  const key = listKey(pets, {});
  cache.setQueryData<ListData<Pet>>(key, { pages, pageParams: pages.map(() => undefined) });
  return { cache, pages: () => cache.getQueryData<ListData<Pet>>(key)!.pages };
}

describe('a cached list', () => {
  it('has what the user adds at its top, also if its event came before', () => {
    const { cache, pages } = cacheWith(1);
    announceItem(cache, pets, petOf(301));
    announceItem(cache, pets, petOf(302));
    addItem(cache, pets, petOf(301));
    announceItem(cache, pets, petOf(301));
    const [{ items, waiting, total }] = pages() as [ReturnType<typeof pages>[0]];
    assert.deepEqual(
      [items[0]!.id, items.length, waiting.map(({ id }) => id), total?.count],
      [301, 101, [302], 101],
    );
  });

  it('has each new item once, and at most as many as are shown', () => {
    const { cache, pages } = cacheWith(2);
    for (const id of [1, 150, 201, 201]) announceItem(cache, pets, petOf(id));
    assert.deepEqual(
      pages()[0]!.waiting.map(({ id }) => id),
      [201],
    );
    for (let id = 202; id < 5_000; id++) announceItem(cache, pets, petOf(id));
    assert.equal(pages()[0]!.waiting.length, MOST_WAITING);
  });

  it('changes and marks an item in its place, and keeps the other pages', () => {
    const { cache, pages } = cacheWith(3);
    const [first, , third] = pages();
    announceItem(cache, pets, petOf(301));
    putItem(cache, pets, { ...petOf(150), name: 'Renamed' });
    putItem(cache, pets, { ...petOf(150), name: 'Renamed again' });
    putItem(cache, pets, { ...petOf(301), name: 'Waits' });
    markGone(cache, pets, 151);
    const [head, middle, last] = pages();
    assert.equal(middle!.items[49]!.name, 'Renamed again');
    assert.deepEqual(middle!.gone, [151]);
    assert.equal(head!.waiting[0]!.name, 'Waits');
    assert.equal(head!.items, first!.items);
    assert.equal(last, third);
  });

  it('changes together with what other lists know about an item by its ID', () => {
    const { cache } = cacheWith(1);
    cache.setQueryData(knownKey(pets), new Map([[301, petOf(301)]]));
    for (const id of [1, 301]) putItem(cache, pets, { ...petOf(id), name: 'Renamed' });
    assert.deepEqual(
      cache.getQueryData(knownKey(pets)),
      new Map([[301, { ...petOf(301), name: 'Renamed' }]]),
    );
  });

  it('shows an item as before a rejected change, where nothing else has arrived meanwhile', () => {
    const { cache, pages } = cacheWith(1);
    const [before, shown, theirs] = ['Rex', 'Max', 'Bello'].map(name => ({ ...petOf(1), name }));
    cache.setQueryData(knownKey(pets), new Map([[1, before]]));
    putItem(cache, pets, shown!);
    cache.setQueryData(knownKey(pets), new Map([[1, theirs]]));
    putBack(cache, pets, before!, shown!);
    assert.equal(pages()[0]!.items[0], before);
    assert.deepEqual(cache.getQueryData(knownKey(pets)), new Map([[1, theirs]]));
  });

  it('counts what the user adds and deletes', () => {
    const { cache, pages } = cacheWith(2);
    addItem(cache, pets, petOf(201));
    addItem(cache, pets, petOf(202));
    assert.equal(pages()[0]!.total?.count, 202);
    for (const id of [150, 201, 999]) removeItem(cache, pets, id);
    assert.equal(pages()[0]!.total?.count, 200);
    assert.equal(pages()[1]!.items.length, 99);
  });
});
