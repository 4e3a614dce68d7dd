import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Client } from '../support/client.ts';
import { aCategory, anOrder, aPet } from '../support/factories.ts';
import { nextPath, pagesOf } from '../support/pages.ts';
import { assertRejected } from '../support/rejection.ts';
import { startTestApp } from '../support/test-app.ts';

interface Named {
  id: number;
  name: string;
}

/** Creates one pet per name, in one category. */
async function petsNamed(api: Client, names: readonly string[]): Promise<void> {
  const categoryId = await aCategory(api);
  for (const name of names) await aPet(api, { name, categoryId });
}

/** The parameters of the next page's URL. */
function nextQuery(link: string | undefined): URLSearchParams {
  assert.ok(link, 'there is no next page');
  return new URL(link, 'http://shop').searchParams;
}

/** Writes a cursor in the service's format, also one that the service never assigned. */
function cursorOf(...parts: unknown[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

describe('pages', () => {
  it('of every list, put together, are the whole list', async t => {
    const { api, clientWith } = await startTestApp(t);
    for (let i = 0; i < 7; i++) {
      await anOrder(api, { petId: await aPet(api, { stock: 2 }) });
      await clientWith({});
    }
    for (const path of ['/pets', '/categories', '/store/orders', '/store/inventory', '/keys']) {
      const whole = await api.get(`${path}?limit=100`);
      assert.equal(nextPath(whole), undefined);
      for (const limit of [1, 3, 7]) {
        const pages = await Array.fromAsync(pagesOf(api, `${path}?limit=${limit}`));
        assert.deepEqual(
          pages.flatMap(({ body }) => body),
          whole.body,
        );
        assert.ok(pages.slice(0, -1).every(({ body }) => body.length === limit));
      }
    }
  });

  it('end: neither a full last page nor an empty page has a next one', async t => {
    const { api } = await startTestApp(t);
    assert.equal(nextPath(await api.get('/store/orders')), undefined);
    for (let i = 0; i < 4; i++) await anOrder(api, {});
    const lengths = (await Array.fromAsync(pagesOf(api, '/store/orders?limit=2'))).map(
      ({ body }) => body.length,
    );
    assert.deepEqual(lengths, [2, 2]);
  });

  it('the next page keeps filters, sort and limit, whatever characters they contain', async t => {
    const { api } = await startTestApp(t);
    const name = 'Tom & "Jerry" > 100% + ä';
    await petsNamed(api, [name, 'Other', name, name, 'Tom & "Jerry" < 100%']);
    const query = new URLSearchParams({ name, sort: '-name', limit: '1', status: 'available' });
    for (const id of [1, 2, 3, 5]) query.append('id', String(id));

    const pages = await Array.fromAsync(pagesOf(api, `/pets?${query}`));
    assert.deepEqual(
      pages.map(({ body }) => body.map(({ id }: Named) => id)),
      [[3], [1]],
    );
    const next = nextQuery(nextPath(pages[0]!));
    next.delete('cursor');
    assert.deepEqual([...next], [...query]);
  });

  for (const sort of ['id', '-id', 'name', '-name']) {
    it(`by ${sort}: rows added and deleted between pages make no other row repeat or disappear`, async t => {
      const { api } = await startTestApp(t);
      // Many pets share a name, also in different case, so that pages end between equal names, too.
      const names = ['ant', 'Bee', 'bee', 'BEE', 'cat', 'Dog', 'dog', 'dog', 'eel', 'Älk'];
      await petsNamed(api, [...names, ...names]);
      const before: Named[] = (await api.get('/pets?limit=100')).body;
      const deleted = new Set<number>();
      const remove = async (id: number) => {
        deleted.add(id);
        assert.equal((await api.delete(`/pets/${id}`)).status, 204);
      };

      const seen: Named[] = [];
      for await (const { body } of pagesOf(api, `/pets?limit=3&sort=${sort}`)) {
        seen.push(...body);
        const notListed = before.find(({ id }) => !deleted.has(id) && !seen.some(pet => pet.id === id));
        if (!notListed) continue;
        // Adds rows at both ends and among equals; deletes the row that the cursor names and one not yet listed.
        for (const name of ['Aardvark', body.at(-1).name, 'zebra']) await aPet(api, { name, categoryId: 1 });
        await remove(body.at(-1).id);
        await remove(notListed.id);
      }

      const ids = seen.map(({ id }) => id);
      assert.equal(new Set(ids).size, ids.length, `a row was repeated: ${ids}`);
      const skipped = before.filter(({ id }) => !deleted.has(id) && !ids.includes(id));
      assert.deepEqual(skipped, []);
    });
  }

  it('a cursor is valid only for the order and the filters it was made for', async t => {
    const { api } = await startTestApp(t);
    await petsNamed(api, ['ant', 'bee', 'cat', 'cow']);
    const lists = [
      'sort=id',
      'sort=-id',
      'sort=name',
      'sort=-name',
      'status=available',
      'status=available&status=pending',
      'categoryId=1',
      'categoryId=1&status=available',
      'id=1&id=2&id=3&id=4',
      'id=1&id=2&id=3',
      'name=c',
      'name=c&sort=-name',
      'name=c&id=1&id=2&id=3&id=4',
      'q=c',
      'q=c&categoryId=1',
      'q=co+c',
    ];
    await petsNamed(api, ['co cat', 'co cow']);
    for (const list of lists) {
      const cursor = nextQuery(nextPath(await api.get(`/pets?limit=1&${list}`))).get('cursor');
      for (const other of lists) {
        const response = await api.get(`/pets?limit=2&count=true&${other}&cursor=${cursor}`);
        if (other === list) assert.equal(response.status, 200, list);
        else assert.match(assertRejected(response, 400, 'invalid_request'), /`cursor`.* `sort` and filters$/);
      }
    }
  });

  it('a cursor stays valid when the values of a filter change places or repeat, and with another limit', async t => {
    const { api } = await startTestApp(t);
    await petsNamed(api, ['ant', 'ape', 'cat']);
    for (const [list, same] of [
      ['status=pending&status=available', 'status=available&status=pending'],
      ['id=3&id=2&id=1', 'id=1&id=2&id=3&id=2'],
      ['name=%20A&id=1&id=2&id=1', 'id=2&id=1&name=a'],
    ] as const) {
      const cursor = nextQuery(nextPath(await api.get(`/pets?${list}&limit=1`))).get('cursor');
      const next = await api.get(`/pets?${same}&limit=7&cursor=${cursor}`);
      assert.deepEqual(next.body, (await api.get(`/pets?${same}`)).body.slice(1));
    }
  });

  it('a cursor before or after the range of the filter is rejected', async t => {
    const { api } = await startTestApp(t);
    await petsNamed(api, ['ant', 'bee', 'bee', 'cat']);
    for (const sort of ['name', '-name']) {
      const genuine = nextQuery(nextPath(await api.get(`/pets?limit=1&name=b&sort=${sort}`))).get('cursor')!;
      const [digest] = JSON.parse(Buffer.from(genuine, 'base64url').toString());
      for (const name of ['ant', 'c', 'cat'])
        assertRejected(
          await api.get(`/pets?limit=1&name=b&sort=${sort}&cursor=${cursorOf(digest, name, 1)}`),
          400,
          'invalid_request',
        );
    }
  });

  it('a cursor that the service did not make is rejected', async t => {
    const { api } = await startTestApp(t);
    await petsNamed(api, ['ant', 'bee', 'cat']);
    const genuine = nextQuery(nextPath(await api.get('/pets?limit=1&sort=name'))).get('cursor')!;
    const [digest, ...key] = JSON.parse(Buffer.from(genuine, 'base64url').toString());
    assert.match(digest, /^[\w-]{11}$/);
    assert.deepEqual(key, ['ant', 1]);
    assert.equal(genuine, cursorOf(digest, ...key));

    const tampered = [genuine.slice(0, -1), genuine.slice(1), `${genuine}A`, `${genuine}!`, `${genuine}=`];
    const forged = [
      cursorOf(),
      cursorOf(digest),
      cursorOf(digest, 'ant'),
      cursorOf(digest, 'ant', 1, 1),
      cursorOf(digest, 1, 'ant'),
      cursorOf(digest, 'ant', '1'),
      cursorOf(digest, 'ant', 1.5),
      cursorOf(digest, 'ant', null),
      cursorOf(digest, ['ant'], 1),
      cursorOf(digest, 'a\0t', 1),
      cursorOf(digest, '\ud800', 1),
      cursorOf('name', 'ant', 1),
      Buffer.from('{"sort":"name"}').toString('base64url'),
      Buffer.from(`["${digest}","ant", 1]`).toString('base64url'),
      Buffer.from('"name"').toString('base64url'),
    ];
    for (const cursor of ['', 'x', '%00', 'null', ...tampered, ...forged]) {
      const response = await api.get(`/pets?limit=1&sort=name&cursor=${cursor}`);
      assert.match(assertRejected(response, 400, 'invalid_request'), /`cursor`/);
    }
    assertRejected(
      await api.get(`/pets?sort=name&cursor=${genuine}&cursor=${genuine}`),
      400,
      'invalid_request',
    );
  });
});
