import assert from 'node:assert/strict';
import { it } from 'node:test';
import { withCodeLinks } from '../../src/portal/code-links.ts';
import { fetchBytes } from '../support/fetch-bytes.ts';
import { useShop } from '../support/use-shop.ts';

const shop = useShop();

async function markdownAt(path: string): Promise<string> {
  const { status, text } = await fetchBytes(`${shop.origin}${path}.md`);
  assert.equal(status, 200, path);
  return text.replace(/\s+/g, ' ');
}

/** What clients cannot see from the contract alone. Other tests send these requests to the service. */
const statements: Record<string, RegExp[]> = {
  '/docs/guide/versions-and-deprecation': [
    /`\/pets\/\{petId\}` stays the identity of a pet, .* and the address of writes/,
    /`GET \/pets\?id=22`, .*: 200 with `\[\]` means that no pet has this ID/,
    /When 1\.1 is released, `1` and no header mean 1\.1/,
    /`PATCH \/store\/inventory\/\{petId\}`\S* does what \[`PUT \/store\/inventory\/\{petId\}`\]\(\/docs\/operations\/setStock\) does: send the same body with PUT/,
  ],
  '/docs/guide/errors': [
    /PUT of an order replaces all of its fields/,
    /Integers in a body end at 9007199254740991 \(2\^53 − 1\)/,
  ],
  '/docs/guide/quickstart': [/\*\*Prices, payments and customers\*\* are not part of the service/],
  '/docs/guide/events': [
    /`EventSource` needs `addEventListener\('order\.placed', …\)` for each type/,
    /\(\/docs\/running\/seals-of-the-event-log\) has the algorithm and such a program/,
  ],
  '/docs/running/seals-of-the-event-log': [/## The algorithm .* ```python .* def sha256\(/],
  '/docs/guide/recipes': [/## Mirror the shop every night .* Later runs apply the events since the last run/],
  '/docs/operations/createWebhook': [
    /Requires the scopes `webhooks:write` and `events:read`, and one of `pets:read`, /,
  ],
  '/docs/guide/authentication': [
    /An administrator of the shop \[creates it\]\(\/docs\/guide\/managing-keys\)/,
  ],
};

it('the guide states what clients cannot see from the contract', async () => {
  for (const [path, wanted] of Object.entries(statements)) {
    const text = await markdownAt(path);
    for (const statement of wanted) assert.match(text, statement, path);
  }
});

it('the guide links each operation, error code and page of the portal that a chapter names, once', async () => {
  const keys = await markdownAt('/docs/guide/managing-keys');
  assert.match(keys, /\[`POST \/keys`\]\(\/docs\/operations\/createApiKey\)/);
  assert.equal(keys.split('`GET /keys/{keyId}/usage`').length, 3, 'the chapter names it twice');
  assert.equal(keys.split('](/docs/operations/getApiKeyUsage)').length, 2, 'and links it once');
  assert.match(keys, /\[`DELETE \/keys\/\{keyId\}`\]\(\/docs\/operations\/revokeApiKey\)/);
  assert.match(keys, /409 \[`last_admin_key`\]\(\/docs\/errors#last_admin_key\)/);
  assert.match(
    await markdownAt('/docs/guide/errors'),
    /The page \[`\/docs\/errors`\]\(\/docs\/errors\) explains/,
  );
  assert.match(
    await markdownAt('/docs/running/backup-and-restore'),
    /\[`log_restored`\]\(\/docs\/errors#log_restored\)/,
  );
  const others = '## `GET /pets`\n\n[`GET /pets`](x), `GET /cats`\n\n```text\nA `GET /pets`\n```\n';
  assert.equal(withCodeLinks(others, new Map([['GET /pets', '/docs/operations/listPets']])), others);
});

it('the start page has two sentences about the service, a first request, four doors, the client and its state', async () => {
  const text = await markdownAt('/docs');
  const [, introduction = ''] = /^# Pet Store Service (.*?) The service works\. \[Status\]/.exec(text) ?? [];
  assert.equal(introduction.match(/\.(?= |$)/g)?.length, 2, introduction);
  assert.match(text, /## First request .* curl -i "\$SHOP\/pets\?limit=3"/);
  const [, doors = ''] = /## What do you want to do\? (.*?) ## /.exec(text) ?? [];
  assert.deepEqual(
    [...doors.matchAll(/- \[([^\]]+)\]/g)].map(([, title]) => title),
    ['Build a shop page', 'Receive events', 'Import a catalogue', 'Run it'],
  );
  assert.match(doors, /\[Run it\]\(\/docs\/running\) Docker, systemd or Kubernetes/);
  assert.match(text, /npm install http:\/\/\S+\/packages\/client\.tgz/);
});

it('the page of events has the fields that all types have, and leads to the list of types', async () => {
  const { text } = await fetchBytes(`${shop.origin}/docs/resources/events.md`);
  assert.match(text, /`data` depends on the type: see the \[types of events\]\(\/docs\/events\)/);
  const fields = [...text.matchAll(/^ *- `(\w+)` \(/gm)].map(([, name]) => name);
  for (const name of ['id', 'source', 'type', 'subject', 'time', 'actor', 'data'])
    assert.equal(fields.filter(field => field === name).length, 1, name);
});
