import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Contract } from '../../src/portal/contract.ts';
import { working } from '../../src/portal/health.ts';
import { openPortal } from '../../src/portal/open-portal.ts';
import { readContract } from '../support/contract-file.ts';

/** Opens the portal for the contract after a change, and returns a function that reads its pages. */
async function portalAfter(change: (contract: Contract) => void) {
  const contract = readContract<Contract>();
  change(contract);
  const portal = await openPortal(contract, { port: 8080, isDemo: false });
  return async (path: string): Promise<string> => {
    const content = await portal.page(path, 'html', async () => working);
    assert.ok(content, path);
    return String(await content.encoded('identity'));
  };
}

it('a new operation has a page, an entry in the navigation, in its resource, in llms.txt and in the search', async () => {
  const page = await portalAfter(({ paths }) => {
    const list = paths['/pets']!.get!;
    paths['/toys'] = { get: { ...list, operationId: 'listToys', summary: 'List toys' } };
  });
  assert.match(await page('/docs/operations/listToys'), /<h1>List toys<\/h1>/);
  for (const path of ['/docs', '/docs/resources/animals'])
    assert.ok((await page(path)).includes('href="/docs/operations/listToys"'), path);
  assert.ok((await page('/llms.txt')).includes('/docs/operations/listToys.md'));
  assert.ok((await page('/docs/search.json')).includes('"/docs/operations/listToys"'));
});

it('a new parameter is described, in the form, in the samples and in the search', async () => {
  const page = await portalAfter(({ paths }) => {
    const schema = { type: 'string', enum: ['red', 'green'] };
    const colour = { name: 'colour', in: 'query', required: true, schema, example: 'green' } as const;
    paths['/pets']!.get!.parameters!.push({ ...colour, description: 'The colour of the fur.' });
  });
  const text = await page('/docs/operations/listPets');
  assert.match(text, /id="query\.colour".*?required.*?The colour of the fur\./s);
  assert.match(text, /<select [^>]*data-parameter="colour"><option>red<\/option>/);
  assert.ok(text.includes('/pets?colour=green'));
  assert.ok((await page('/docs/search.json')).includes('/docs/operations/listPets#query.colour'));
});

it('a new error code is in the catalogue, and with its message in its operation', async () => {
  const page = await portalAfter(contract => {
    contract['x-error-codes'].pet_asleep = { status: 423, description: 'The pet sleeps.' };
    const value = { code: 'pet_asleep', message: 'Pet 7 sleeps until 9:00', status: 423 };
    contract.paths['/pets/{petId}']!.get!.responses['423'] = {
      description: 'Locked.',
      content: { 'application/json': { schema: {}, examples: { pet_asleep: { value } } } },
    };
  });
  const section = (await page('/docs/operations/getPet')).split('data-code="423"')[1]!;
  assert.match(section, /\/docs\/errors#pet_asleep.*?Pet 7 sleeps until 9:00/s);
  assert.match(await page('/docs/errors'), /id="423-locked".*?<tr id="pet_asleep">/s);
});

it('an operation with only common codes shows them in one line', async () => {
  const page = await portalAfter(() => {});
  const text = await page('/docs/operations/runBatch');
  for (const status of [401, 403, 429]) {
    assert.ok(text.includes(`data-shared="${status}"`), String(status));
    assert.ok(!text.includes(`data-code="${status}"`), String(status));
  }
  // A response with a code of its own stays.
  assert.match(await page('/docs/operations/streamEvents'), /data-code="429".*?too_many_streams/s);
});

it('any operation can be deprecated, beta, or without a form', async () => {
  const page = await portalAfter(({ paths }) => {
    const { get, post } = paths['/pets']!;
    Object.assign(get!, { 'x-hideTryItPanel': true, 'x-stability': 'beta' });
    Object.assign(post!, {
      deprecated: true,
      'x-deprecated-sunset': '2031-02-03',
      'x-deprecated-successor': '/pets',
    });
  });
  const list = await page('/docs/operations/listPets');
  assert.ok(!list.includes('class="send') && list.includes('class="copy-command'));
  assert.match(list, /<h1>List pets <a class="badge" data-stability="beta" href="[^"]+#beta">/);
  assert.ok(list.includes('Trying this operation out is disabled'));
  const create = await page('/docs/operations/createPet');
  assert.match(create, /returns 410 from\s+<time datetime="2031-02-03">/);
  assert.match(create, /data-deprecated="2031-02-03".*<a href="[^"]+"><code>\/pets<\/code><\/a>/s);
});
