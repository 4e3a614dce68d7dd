import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Client } from '../support/client.ts';
import { aCategory, aPet } from '../support/factories.ts';
import { nextPath, pagesOf } from '../support/pages.ts';
import { assertInvalid } from '../support/rejection.ts';
import { startTestApp } from '../support/test-app.ts';

/** Returns the names that a search finds, in order, over all pages. */
async function find(api: Client, q: string, more = ''): Promise<string[]> {
  const pages = await Array.fromAsync(pagesOf(api, `/pets?q=${encodeURIComponent(q)}${more}`));
  return pages.flatMap(({ body }) => body.map((pet: { name: string }) => pet.name));
}

async function aShop(api: Client, names: readonly string[]): Promise<number[]> {
  const categoryId = await aCategory(api);
  const ids: number[] = [];
  for (const name of names) ids.push(await aPet(api, { name, categoryId }));
  return ids;
}

describe('GET /pets?q=', () => {
  it('orders exact matches before longer words, and those before typing errors', async t => {
    const { api } = await startTestApp(t);
    await aShop(api, [
      'Goldens of Kent',
      'Gulden',
      'Old Golden',
      'golden Ära',
      'Holden',
      'Goldener',
      'Gold',
      'Glden',
    ]);
    assert.deepEqual(await find(api, 'GOLDEN', '&limit=1'), [
      ...['golden Ära', 'Old Golden'],
      ...['Goldener', 'Goldens of Kent'],
      ...['Glden', 'Gulden', 'Holden'],
    ]);
  });

  it('ignores case, accents and punctuation, and the order of words', async t => {
    const { api } = await startTestApp(t);
    await aShop(api, ['Éclair au Chocolat', 'Smørrebrød', 'Łódź', 'Straße 7', '東京タワー', 'O’Malley']);
    await aShop(api, ['Guðmundsdóttir', 'Þór', 'Æther', 'Cœur', 'Đorđe']);
    const cases: [q: string, names: string[]][] = [
      ['ecl', ['Éclair au Chocolat']],
      ['CHOC écl', ['Éclair au Chocolat']],
      ['smorre', ['Smørrebrød']],
      ['lodz', ['Łódź']],
      ['gud', ['Guðmundsdóttir']],
      ['thor', ['Þór']],
      ['ÞOR', ['Þór']],
      ['aether', ['Æther']],
      ['coeur', ['Cœur']],
      ['dord', ['Đorđe']],
      ['7, strasse!', ['Straße 7']],
      ['東', ['東京タワー']],
      ['malley', ['O’Malley']],
      ['京', []],
      ['ecl malley', []],
    ];
    for (const [q, names] of cases) assert.deepEqual(await find(api, q), names, q);
  });

  it('allows no error up to 4 letters and in numbers, 1 from 5 letters and 2 from 9', async t => {
    const { api } = await startTestApp(t);
    await aShop(api, ['Alfa', 'Shadow', 'Hamster', 'Retriever', '123456789', 'Labradorians']);
    // Both errors are at the start, from which the variants are made.
    for (const q of ['bradorians', 'xylabradorians', 'albardorians'])
      assert.deepEqual(await find(api, q), ['Labradorians'], q);
    for (const q of ['alfo', 'shodaw', 'reteiivar', '123456788', 'etrievers1'])
      assert.deepEqual(await find(api, q), [], q);
    for (const q of ['shadwo', 'hadow', 'shadoow', 'shodow'])
      assert.deepEqual(await find(api, q), ['Shadow'], q);
    for (const q of ['retreivre', 'etrievers', 'rretriiver'])
      assert.deepEqual(await find(api, q), ['Retriever'], q);
    assert.deepEqual(await find(api, 'hhaamster'), ['Hamster'], 'the shortest name with two errors');
  });

  it('finds a pet by its new name after every change, and no longer by the old one', async t => {
    const { api, app } = await startTestApp(t);
    const [id] = await aShop(api, ['Old Rex']);
    assert.deepEqual(await find(api, 'rex'), ['Old Rex']);
    const { body: pet } = await api.get(`/pets?id=${id}`);
    assert.equal((await api.put(`/pets/${id}`, { ...pet[0], name: 'New Max' })).status, 200);
    assert.deepEqual([await find(api, 'rex'), await find(api, 'max')], [[], ['New Max']]);
    assert.equal((await api.patch(`/pets/${id}`, { name: 'Uncle Moritz' })).status, 200);
    assert.deepEqual([await find(api, 'max'), await find(api, 'moritz')], [[], ['Uncle Moritz']]);
    assert.equal((await api.delete(`/pets/${id}`)).status, 204);
    assert.deepEqual(await find(api, 'moritz'), []);
    assert.deepEqual(await app.db.all('SELECT * FROM pet_words'), [], 'words of earlier names');
  });

  it('neither repeats nor skips pets on later pages while other pets change', async t => {
    const { api } = await startTestApp(t);
    const ids = await aShop(api, ['a Rex', 'b Rex', 'c Rex', 'd Rex', 'e Rexa']);
    const first = await api.get('/pets?q=rex&limit=2');
    const seen = first.body.map((pet: { name: string }) => pet.name);
    await api.delete(`/pets/${ids[1]}`);
    await aShop(api, ['aa Rex', 'cc Rex']);
    const rest = await Array.fromAsync(pagesOf(api, nextPath(first)!));
    const names = rest.flatMap(({ body }) => body.map((pet: { name: string }) => pet.name));
    assert.deepEqual([...seen, ...names], ['a Rex', 'b Rex', 'c Rex', 'cc Rex', 'd Rex', 'e Rexa']);
  });

  it('finds names by the emoji in them', async t => {
    const { api } = await startTestApp(t);
    await aShop(api, ['🐹 Hammy', 'Rex🐶❤️', 'Doctor 👩🏽‍⚕️', 'Flag 🇩🇪🇫🇷']);
    const cases: [q: string, names: string[]][] = [
      ['🐹', ['🐹 Hammy']],
      ['🐶', ['Rex🐶❤️']],
      ['❤ rex', ['Rex🐶❤️']],
      ['👩‍⚕️', ['Doctor 👩🏽‍⚕️']],
      ['🇫🇷', ['Flag 🇩🇪🇫🇷']],
      ['🇪🇫', []],
      ['🐍', []],
    ];
    for (const [q, names] of cases) assert.deepEqual(await find(api, q), names, q);
  });

  it('finds nothing without a word', async t => {
    const { api } = await startTestApp(t);
    await aShop(api, ['!? Rex', '★']);
    for (const q of ['!?', '★', '-']) {
      const { status, body, headers } = await api.get(`/pets?q=${encodeURIComponent(q)}&count=true`);
      assert.deepEqual([status, body, headers['x-total-count'], headers.link], [200, [], '0', undefined], q);
    }
  });

  it('rejects a search with too many words, other orders, and a cursor of another search', async t => {
    const { api } = await startTestApp(t);
    await aShop(api, ['a Rex', 'b Rex']);
    const message = async (query: string) => {
      const response = await api.get(`/pets?${query}`);
      assertInvalid(response);
      return response.body.message;
    };
    assert.match(await message('q='), /`q`/);
    assert.match(await message('q=a+b+c+d+e+f+g+h+i'), /`q` must have at most 8 words, but has 9/);
    assert.match(await message(`q=${'x'.repeat(201)}`), /`q`/);
    assert.match(await message('q=rex&sort=name'), /`sort` cannot be combined with `q`/);
    for (const [other, name] of Object.entries({ 'id=1': 'id', 'name=rex': 'name' })) {
      assert.equal(
        await message(`q=rex&${other}`),
        `Query parameters \`q\` and \`${name}\` cannot be combined: send only \`q\`, or only \`${name}\``,
      );
    }
    assert.match(
      await message('q=rex&status=sold&categoryId=1&name=rex'),
      /: send only `q`, `status` and `categoryId`, or only `status`, `categoryId` and `name`$/,
    );
    const cursor = /cursor=([\w-]+)/.exec(String((await api.get('/pets?q=rex&limit=1')).headers.link))![1];
    assert.match(await message(`q=max&cursor=${cursor}`), /`cursor`/);
    assert.match(await message(`q=%21&cursor=${cursor}`), /`cursor`/);
    assert.match(await message(`cursor=${cursor}`), /`cursor`/);
    assert.match(await message(`q=rex&categoryId=1&cursor=${cursor}`), /`cursor`/);
    const [digest, ...place] = JSON.parse(Buffer.from(cursor!, 'base64url').toString());
    assert.equal(place[0], 0);
    const forged = Buffer.from(JSON.stringify([digest, 7, 'a', 1])).toString('base64url');
    assert.match(await message(`q=rex&cursor=${forged}`), /`cursor`/);
  });

  it('counts a missing letter as one error, also outside of the first Unicode plane', async t => {
    const { api } = await startTestApp(t);
    // Letters of the Deseret alphabet. Each is one code point and two UTF-16 code units.
    const name = '\u{1042e}\u{10430}\u{10433}\u{10435}\u{10438}\u{1043a}';
    await aShop(api, [name]);
    const letters = Array.from(name);
    for (const i of letters.keys())
      assert.deepEqual(await find(api, letters.toSpliced(i, 1).join('')), [name], `without letter ${i + 1}`);
  });
});
