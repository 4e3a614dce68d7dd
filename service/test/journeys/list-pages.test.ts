import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { aCategory, aPet, petsIn } from '../support/factories.ts';
import { itemsOf, nextPath, pagesOf } from '../support/pages.ts';
import { assertInvalid } from '../support/rejection.ts';
import { useShop } from '../support/use-shop.ts';

const shop = useShop();

interface Named {
  id: number;
  name: string;
}

/** Creates a pet with each name, in a category of their own. */
async function petsNamed(...names: string[]): Promise<{ categoryId: number; ids: number[] }> {
  const categoryId = await aCategory(shop.api);
  return { categoryId, ids: await petsIn(shop.api, categoryId, names) };
}

function nextQuery(link: string | undefined): URLSearchParams {
  assert.ok(link, 'there is no next page');
  return new URL(link, 'http://shop').searchParams;
}

/** Writes a cursor in the service's format, also one that the service never assigned. */
function cursorOf(...parts: unknown[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

describe('pages', () => {
  it('the next page keeps filters, sort and limit, whatever characters they contain', async () => {
    const name = 'Tom & "Jerry" > 100% + ä';
    const { ids } = await petsNamed(name, 'Other', name, name, 'Tom & "Jerry" < 100%');
    const query = new URLSearchParams({ name, sort: '-name', limit: '1', status: 'available' });
    for (const i of [0, 1, 2, 4]) query.append('id', String(ids[i]));

    const pages = await Array.fromAsync(pagesOf(shop.api, `/pets?${query}`));
    assert.deepEqual(
      pages.map(({ body }) => body.map(({ id }: Named) => id)),
      [[ids[2]], [ids[0]]],
    );
    const next = nextQuery(nextPath(pages[0]!));
    next.delete('cursor');
    assert.deepEqual([...next], [...query]);
  });

  for (const sort of ['id', '-id', 'name', '-name']) {
    it(`by ${sort}: rows added and deleted between pages make no other row repeat or disappear`, async () => {
      const { api } = shop;
      // Many pets share a name, also in different case, so that pages end between equal names, too.
      const names = ['ant', 'Bee', 'bee', 'BEE', 'cat', 'Dog', 'dog', 'dog', 'eel', 'Älk'];
      const { categoryId } = await petsNamed(...names, ...names);
      const before: Named[] = await itemsOf(api, '/pets?limit=100');
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
        for (const name of ['Aardvark', body.at(-1).name, 'zebra']) await aPet(api, { name, categoryId });
        await remove(body.at(-1).id);
        await remove(notListed.id);
      }

      const ids = seen.map(({ id }) => id);
      assert.equal(new Set(ids).size, ids.length, `a row was repeated: ${ids}`);
      const skipped = before.filter(({ id }) => !deleted.has(id) && !ids.includes(id));
      assert.deepEqual(skipped, []);
    });
  }

  it('a cursor is valid only for the order and the filters it was made for', async () => {
    const { categoryId, ids } = await petsNamed('ant', 'bee', 'cat', 'cow', 'co cat', 'co cow');
    const [a, b, c, d] = ids.map(id => `id=${id}`);
    const lists = [
      'sort=id',
      'sort=-id',
      'sort=name',
      'sort=-name',
      'status=available',
      'status=available&status=pending',
      `categoryId=${categoryId}`,
      `categoryId=${categoryId}&status=available`,
      `${a}&${b}&${c}&${d}`,
      `${a}&${b}&${c}`,
      'name=c',
      'name=c&sort=-name',
      `name=c&${a}&${b}&${c}&${d}`,
      'q=c',
      `q=c&categoryId=${categoryId}`,
      'q=co+c',
    ];
    for (const list of lists) {
      const cursor = nextQuery(nextPath(await shop.api.get(`/pets?limit=1&${list}`))).get('cursor');
      for (const other of lists) {
        const response = await shop.api.get(`/pets?limit=2&count=true&${other}&cursor=${cursor}`);
        if (other === list) assert.equal(response.status, 200, list);
        else assertInvalid(response, /`cursor`.* `sort` and filters$/);
      }
    }
  });

  it('a cursor stays valid when the values of a filter change places or repeat, and with another limit', async () => {
    const { api } = shop;
    const { ids } = await petsNamed('ant', 'ape', 'cat');
    const [a, b, c] = ids.map(id => `id=${id}`);
    for (const [list, same] of [
      [`${a}&${b}&status=pending&status=available`, `${a}&${b}&status=available&status=pending`],
      [`${c}&${b}&${a}`, `${a}&${b}&${c}&${b}`],
      [`name=%20A&${a}&${b}&${a}`, `${b}&${a}&name=a`],
    ] as const) {
      const cursor = nextQuery(nextPath(await api.get(`/pets?${list}&limit=1`))).get('cursor');
      const next = await api.get(`/pets?${same}&limit=7&cursor=${cursor}`);
      assert.deepEqual(next.body, (await api.get(`/pets?${same}`)).body.slice(1));
    }
  });

  it('a cursor before or after the range of the filter is rejected', async () => {
    const { api } = shop;
    await petsNamed('ant', 'bee', 'bee', 'cat');
    for (const sort of ['name', '-name']) {
      const genuine = nextQuery(nextPath(await api.get(`/pets?limit=1&name=b&sort=${sort}`))).get('cursor')!;
      const [digest] = JSON.parse(Buffer.from(genuine, 'base64url').toString());
      for (const name of ['ant', 'c', 'cat'])
        assertInvalid(await api.get(`/pets?limit=1&name=b&sort=${sort}&cursor=${cursorOf(digest, name, 1)}`));
    }
  });

  it('a cursor that the service did not make is rejected', async () => {
    const { api } = shop;
    const { categoryId, ids } = await petsNamed('ant', 'bee', 'cat');
    const list = `/pets?categoryId=${categoryId}&sort=name`;
    const genuine = nextQuery(nextPath(await api.get(`${list}&limit=1`))).get('cursor')!;
    const [digest, ...key] = JSON.parse(Buffer.from(genuine, 'base64url').toString());
    assert.match(digest, /^[\w-]{11}$/);
    assert.deepEqual(key, ['ant', ids[0]]);
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
      cursorOf(digest, 'ant', 2 ** 53),
      cursorOf(digest, 'ant', null),
      cursorOf(digest, ['ant'], 1),
      cursorOf(digest, 'a\0t', 1),
      cursorOf(digest, '\ud800', 1),
      cursorOf('name', 'ant', 1),
      Buffer.from('{"sort":"name"}').toString('base64url'),
      Buffer.from(`["${digest}","ant", 1]`).toString('base64url'),
      Buffer.from('"name"').toString('base64url'),
      Buffer.from(`["${digest}","\xff",1]`, 'latin1').toString('base64url'),
    ];
    for (const cursor of ['', 'x', '%00', 'null', ...tampered, ...forged]) {
      const response = await api.get(`${list}&limit=1&cursor=${cursor}`);
      assertInvalid(response, /`cursor`/);
    }
    assertInvalid(await api.get(`${list}&cursor=${genuine}&cursor=${genuine}`));
  });
});
