import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { document, documentedOperations, headersOf, responsesOf } from '../contract/document.ts';
import { fetchBytes } from '../support/fetch-bytes.ts';
import { bodyOf } from '../support/operations.ts';
import { useShop } from '../support/use-shop.ts';

const shop = useShop();

const read = new Map<string, string>();

/** A page as the service sends it, before any script runs. */
async function pageAt(path: string): Promise<string> {
  const known = read.get(path);
  if (known !== undefined) return known;
  const { status, text } = await fetchBytes(shop.origin + path);
  assert.equal(status, 200, path);
  read.set(path, text);
  return text;
}

const characters: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

function textOf(html: string): string {
  return html.replace(/<[^>]*>/g, '').replace(/&([\w#]+);/g, (_, name) => characters[name]!);
}

function matchesOf(html: string, pattern: RegExp): string[] {
  return [...html.matchAll(pattern)].map(([, found]) => textOf(found!));
}

/** The part of a page from a marker to the end of its section. */
function sectionOf(html: string, start: string): string {
  const from = html.indexOf(start);
  assert.ok(from >= 0, start);
  return html.slice(from, html.indexOf('</section>', from));
}

describe('the page of each operation, without JavaScript,', () => {
  for (const { method, path, operation } of documentedOperations) {
    it(`shows ${method} ${path} completely`, async () => {
      const page = await pageAt(`/docs/operations/${operation.operationId}`);
      assert.ok(page.includes(operation.summary));
      assert.match(textOf(page), new RegExp(`${method}\\s+${path.replace(/[{}/]/g, '\\$&')}`));
      const scopes = operation['x-required-scopes'] ?? [];
      for (const scope of [...scopes, ...(operation['x-required-scopes-any-of'] ?? [])])
        assert.ok(page.includes(`<code>${scope}</code>`));
      const shown = matchesOf(page, /<div class="field" id="([^"]+)"/g);
      const parameters = (operation.parameters ?? [])
        .map(part => ('$ref' in part ? document.components.parameters[part.$ref.split('/').at(-1)!]! : part))
        .map(parameter => `${parameter.in}.${parameter.name}`);
      assert.deepEqual(
        shown.filter(id => /^(path|query|header)\./.test(id)).toSorted(),
        parameters.toSorted(),
      );
      const body = bodyOf(operation);
      const ids = matchesOf(page, / id="([^"]*)"/g);
      assert.equal(new Set(ids).size, ids.length, 'anchors are unique');
      const linked =
        page.match(/<div class="field" id="([\w.-]+)">\n<p><a class="anchor" href="#\1">/g) ?? [];
      assert.equal(linked.length, shown.length, 'every field has an anchor');
      const fields = shown.filter(id => id.startsWith('body.')).map(id => id.split('.').at(-1)!);
      for (const field of Object.keys(body?.properties ?? {})) assert.ok(fields.includes(field), field);
      const typed = /<div class="field" id="body\.(?:\w+\.)?(\w+)">\n.*?<span class="small-note">(.*?)</g;
      const types = new Map([...page.matchAll(typed)].map(([, name, type]) => [name, type]));
      for (const [field, { nullable = false }] of Object.entries(body?.properties ?? {}))
        assert.equal(types.get(field)?.endsWith(' or null'), nullable, field);
      if (body) assert.ok(textOf(page).includes(JSON.stringify(body.example, null, 2)), 'the example');
      const markdown = await pageAt(`/docs/operations/${operation.operationId}.md`);
      for (const id of [...parameters, ...fields])
        assert.ok(markdown.includes(`- \`${id.split('.').at(-1)}\` (`), id);
      for (const [status, response] of responsesOf(operation)) {
        const example = response.content?.['application/json']?.example;
        if (example !== undefined)
          assert.ok(textOf(page).includes(JSON.stringify(example, null, 2)), `the example of ${status}`);
        const isShared = page.includes(`<section data-shared="${status}">`);
        const section = sectionOf(page, `<section data-${isShared ? 'shared' : 'code'}="${status}"`);
        if (!isShared)
          assert.deepEqual(
            matchesOf(section.split('class="headers"')[1] ?? '', /<dt>([\w-]+)<\/dt>/g),
            Object.keys(headersOf(response)),
            status,
          );
        // real-errors.test.ts compares the messages with those that the service sends.
        const codes = Object.keys(Object.values(response.content ?? {})[0]?.examples ?? {});
        for (const code of codes) {
          assert.match(
            section,
            new RegExp(`/docs/errors#${code}"><code>${code}</code></a></dt><dd>[A-Z]`),
            code,
          );
          if (!isShared) assert.match(markdown, new RegExp(`^- \`${code}\`: [A-Z]`, 'm'), code);
        }
      }
    });
  }
});

describe('pages', () => {
  it('name a long pattern of a field instead of showing it', async () => {
    for (const path of ['/docs/resources/animals', '/docs/events', '/docs/resources/animals.md']) {
      const page = await pageAt(path);
      assert.doesNotMatch(page, /\\u[0-9a-f]{4}/, path);
      assert.match(page, /1–200 characters; pattern in /, path);
    }
  });

  it('of the guide lead to the section of the page of a package, not only to the page', async () => {
    const page = await pageAt('/docs/guide/webhooks');
    assert.match(page, /href="\/docs\/command#webhooks-on-your-machine"/);
  });

  it('can lead to the row of a metric, however long its name is', async () => {
    const page = await pageAt('/docs/running/what-to-watch');
    for (const name of ['petstore_degraded', 'petstore_http_overdue_requests_total'])
      assert.ok(page.includes(`<tr id="${name}">`), name);
  });

  it('have no broken link and no broken anchor, and neither has their Markdown', async () => {
    const wanted = new Set(['/docs', '/llms.txt', '/llms-full.txt']);
    const links: [page: string, target: string, anchor: string | undefined][] = [];
    for (const path of wanted) {
      const text = await pageAt(path);
      const isPage = text.startsWith('<!doctype');
      if (!isPage && !/\.(md|txt)$/.test(path)) continue;
      // Rules of the contract contain patterns, which look like links.
      const prose = text.replace(/^```.*?^```|`[^`\n]+`/gms, '');
      const targets = isPage
        ? matchesOf(text, /<a [^>]*href="([^"]+)"/g)
        : matchesOf(prose, /\]\(([^)\s]+)\)/g);
      for (const link of targets) {
        // Markdown is also read in one file: its links must not depend on its address.
        assert.ok(isPage || /^(\/|https:)/.test(link), `${path}: ${link}`);
        const { origin: target, pathname, hash } = new URL(link, shop.origin + path);
        if (target !== shop.origin) continue;
        links.push([path, pathname, hash.slice(1) || undefined]);
        wanted.add(pathname);
      }
    }
    assert.ok(wanted.size > 160, `${wanted.size} pages`);
    for (const [page, target, anchor] of links)
      if (anchor)
        assert.ok((await pageAt(target)).includes(` id="${anchor}"`), `${page}: ${target}#${anchor}`);
    for (const { operation } of documentedOperations)
      assert.ok(wanted.has(`/docs/operations/${operation.operationId}`), operation.operationId);
  });

  it('contain everything to which the results of the search lead', async () => {
    const entries: { url: string }[] = JSON.parse(await pageAt('/docs/search.json'));
    assert.ok(entries.length > 500, `${entries.length} entries`);
    for (const { url } of entries) {
      const [path = '', anchor] = url.split('#');
      const page = await pageAt(path);
      if (anchor !== undefined) assert.ok(page.includes(` id="${anchor}"`), url);
    }
  });

  it('contain the navigation: groups, their tags, and the operations of each tag', async () => {
    const page = await pageAt('/docs');
    const shown = page
      .split('<section data-group="')
      .slice(1)
      .map(group => ({
        name: group.split('"', 1)[0],
        tags: group
          .split('<div data-tag="')
          .slice(1)
          .map(tag => ({
            name: tag.split('"', 1)[0],
            operations: matchesOf(tag.split('</div>', 1)[0]!, /href="\/docs\/operations\/(\w+)"/g),
          })),
      }));
    const expected = document['x-tagGroups'].map(({ name, tags }) => ({
      name,
      tags: tags.map(tag => ({
        name: tag,
        operations: documentedOperations
          .filter(listed => listed.operation.tags.includes(tag))
          .map(listed => listed.operation.operationId),
      })),
    }));
    assert.deepEqual(shown, expected);
  });

  it('exist as Markdown, by their extension and by content negotiation', async () => {
    for (const path of [
      '/docs',
      '/docs/guide',
      '/docs/guide/webhooks',
      '/docs/errors',
      '/docs/operations/listPets',
    ]) {
      const byName = await fetchBytes(`${shop.origin}${path}.md`);
      const accept = { accept: 'text/markdown, text/plain;q=0.5' };
      const negotiated = await fetchBytes(shop.origin + path, { headers: accept });
      assert.equal(byName.headers['content-type'], 'text/markdown; charset=utf-8');
      assert.equal(negotiated.text, byName.text, path);
      assert.match(byName.text, /^# .+\n\n/);
      assert.equal(negotiated.headers.vary, 'accept, accept-encoding');
      for (const accept of ['text/html,application/xhtml+xml,*/*;q=0.8', 'text/html, text/markdown;q=0.5']) {
        const page = await fetchBytes(shop.origin + path, { headers: { accept } });
        assert.equal(page.headers['content-type'], 'text/html; charset=utf-8', accept);
      }
    }
  });

  it('are listed in llms.txt, and their content is in llms-full.txt', async () => {
    const summary = await pageAt('/llms.txt');
    const links = matchesOf(summary, /\]\((\/docs[^)]*\.md)\)/g);
    assert.ok(links.length > 80);
    const full = await pageAt('/llms-full.txt');
    for (const link of links) assert.ok(full.includes((await pageAt(link)).trim()), link);
  });

  it('are found under their exact names only', async () => {
    for (const path of [
      '/docs/nothing',
      '/docs/operations',
      '/docs/operations/nothing',
      '/docs/operations/listpets',
      '/docs/operations/listPets.html',
      '/docs/guide/constructor',
      '/docs/constructor',
      '/docs/guide/..%2ferrors',
      '/docs/resources/animals/more',
    ])
      assert.equal((await fetchBytes(shop.origin + path)).status, 404, path);
  });

  it('redirect from their address with slashes at its end', async () => {
    for (const [path, page] of [
      ['/docs/', '/docs'],
      ['/docs/guide/', '/docs/guide'],
      ['/docs/operations/listPets//?x=1', '/docs/operations/listPets'],
    ] as const) {
      const { status, headers } = await fetchBytes(shop.origin + path);
      assert.deepEqual([status, headers.location], [302, page], path);
    }
  });

  it('include one for browsers at addresses without a page; other clients get an error', async () => {
    for (const path of ['/docs/nothing', '/docs/nothing/', '/docs/operations/nothing', '/docs/a/b/c']) {
      const page = await fetchBytes(shop.origin + path, { headers: { accept: 'text/html,*/*;q=0.8' } });
      assert.deepEqual([page.status, page.headers['content-type']], [404, 'text/html; charset=utf-8'], path);
      assert.match(page.text, /<h1>Page not found<\/h1>/);
      assert.equal(page.headers.vary, 'accept, accept-encoding');
      const { text } = await fetchBytes(shop.origin + path, { headers: { accept: 'application/json' } });
      assert.equal(JSON.parse(text).code, 'route_not_found', path);
    }
  });
});

describe('the catalogues', () => {
  it('have every error code with its status and meaning, under an anchor', async () => {
    const page = await pageAt('/docs/errors');
    // Responses at paths that are no operation.
    const unlisted = ['route_not_found', 'method_not_allowed', 'method_not_implemented'];
    for (const [code, { status, description }] of Object.entries(document['x-error-codes'])) {
      const section = page.slice(page.indexOf(`<h2 id="${status}-`)).split('<h2', 2)[1]!;
      const row = section.split(`<tr id="${code}">`)[1]?.split('</tr>', 1)[0];
      assert.ok(row && textOf(row).includes(description.replaceAll('`', '')), code);
      if (!unlisted.includes(code)) assert.match(row, /For example: “[A-Z].+”/, code);
    }
    const [, example = ''] = /```json\n(.*?)```/s.exec(await pageAt('/docs/errors.md')) ?? [];
    assert.deepEqual(Object.keys(JSON.parse(example)).toSorted(), ['code', 'message', 'status']);
  });

  it('name the headers of all errors once, and further ones with their status', async () => {
    const [start = '', ...sections] = (await pageAt('/docs/errors.md')).split(/^## /m);
    const common = matchesOf(/Headers that every error can have: (.*)/.exec(start)![1]!, /`([^`]+)`/g);
    for (const name of ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'])
      assert.ok(common.includes(name), name);
    const further = sections.flatMap(section => {
      const names = /^Further headers: (.*)\.$/m.exec(section);
      return names ? [[section.slice(0, 3), names[1]!.replaceAll('`', '')]] : [];
    });
    assert.deepEqual(further, [
      ['401', 'WWW-Authenticate'],
      ['415', 'Accept-Patch'],
      ['429', 'Retry-After, X-Should-Retry'],
      ['503', 'Retry-After, X-Should-Retry'],
    ]);
  });

  it('have every type of event with its meaning, under an anchor, and the fields of its data', async () => {
    const page = await pageAt('/docs/events');
    const { KnownEvent } = document.components.schemas as unknown as Record<
      string,
      { oneOf: object[]; discriminator: { mapping: Record<string, string> } }
    >;
    const types = Object.keys(KnownEvent!.discriminator.mapping);
    assert.ok(types.length > 15);
    for (const type of types) assert.ok(page.includes(`<tr id="${type}">`), type);
    const kinds = page.split('<h2 ').slice(1);
    assert.equal(kinds.length, KnownEvent!.oneOf.length);
    const ids = matchesOf(page, / id="([^"]+)"/g);
    assert.deepEqual(
      ids.filter((id, i) => ids.indexOf(id) !== i),
      [],
      'anchors are unique',
    );
    for (const kind of kinds) assert.match(kind, /Fields of <code>data<\/code>.*<li>.*specversion/s);
    const log = await pageAt('/docs/operations/listEvents');
    const members = log.split('<div class="member">').slice(1);
    // The last one is for types that later releases add.
    assert.equal(members.length, KnownEvent!.oneOf.length + 1);
    const key = members.find(member => member.includes('key.rotated'))!;
    for (const field of ['actor', 'data', 'data.scopes', 'data.quotas'])
      assert.match(key, new RegExp(` id="200\\.[\\w-]+\\.${field.replace('.', '\\.')}"`), field);
    for (const type of types) assert.ok(log.includes(type), type);
  });
});
