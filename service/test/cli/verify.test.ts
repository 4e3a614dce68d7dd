import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { it, type TestContext } from 'node:test';
import type { Transaction } from '../../src/db/database.ts';
import { useCommandShop } from '../support/command-shop.ts';
import { aCategory } from '../support/factories.ts';
import { listenLocally } from '../support/local-server.ts';
import { continueLogOf } from '../support/restored-log.ts';

const { shop, petstore } = useCommandShop({ alone: true });

type Forge = (tx: Transaction, group: { first: number; last: number }) => Promise<unknown>;

/** Deletes a group in the middle of the log, in ways that leave as few traces as possible. */
const forgeries: [what: string, forge: Forge, finding: RegExp][] = [
  [
    'was deleted and marked as expired',
    async (tx, { last }) => {
      await tx.run('DELETE FROM events WHERE id = ?', [last]);
      await tx.run('UPDATE event_seals SET digests = NULL WHERE last_id = ?', [last]);
    },
    /The group of event \d+ is marked as expired, but has events or follows a group that has not expired/,
  ],
  [
    'was changed, and all groups were marked as expired',
    async (tx, { last }) => {
      await tx.run("UPDATE events SET actor = 'keys/9' WHERE id = ?", [last]);
      await tx.run('UPDATE event_seals SET digests = NULL WHERE last_id <= ?', [last]);
    },
    /The group of event 1 is marked as expired, but has events/,
  ],
  [
    'was deleted with its seal',
    async (tx, { last }) => {
      await tx.run('DELETE FROM events WHERE id = ?', [last]);
      await tx.run('DELETE FROM event_seals WHERE last_id = ?', [last]);
    },
    /Event \d+ is missing, with the seal of its group/,
  ],
  [
    'was changed',
    (tx, { last }) => tx.run("UPDATE events SET actor = 'keys/9' WHERE id = ?", [last]),
    /(An event from \d+ to \d+|Event \d+) was changed/,
  ],
  [
    'was deleted',
    (tx, { last }) => tx.run('DELETE FROM events WHERE id = ?', [last]),
    /Event \d+ is missing/,
  ],
];

it('petstore events verify accepts a log that continued after a restore, and finds every forgery of a group', async () => {
  const { app, api } = shop;
  const categories = async (count: number) => {
    for (let i = 0; i < count; i++) {
      await aCategory(api);
      await app.db.numberEvents();
    }
  };
  await categories(3);
  await continueLogOf(shop);
  await categories(1);
  const verify = () => petstore.run(['events', 'verify', '--json']);
  const { code, stdout, stderr } = await verify();
  assert.deepEqual([code, stderr], [0, '']);
  assert.deepEqual([JSON.parse(stdout).outcome, JSON.parse(stdout).expiredGroups], ['as written', 0]);
  const group = (await app.db.get<{ first: number; last: number }>(
    'SELECT first_id AS first, last_id AS last FROM event_seals ORDER BY last_id LIMIT 1 OFFSET 2',
  ))!;
  assert.equal(group.first, group.last);
  const tables = ['events', 'event_seals'];
  for (const table of tables) await app.db.run(`CREATE TABLE original_${table} AS SELECT * FROM ${table}`);
  const from = (id: number) => petstore.run(['events', 'verify', '--from', String(id)]);
  for (const [what, forge, finding] of forgeries) {
    await app.db.write(tx => forge(tx, group));
    const forged = await verify();
    assert.deepEqual([forged.code, forged.stdout], [1, ''], what);
    assert.match(forged.stderr, finding, what);
    // A check that begins later knows no earlier group, so it cannot know which groups may have expired.
    if (what === 'was changed' || what === 'was deleted') {
      assert.match(
        (await from(group.first - 1)).stderr,
        finding,
        `${what}, after the beginning of the check`,
      );
      assert.equal((await from(group.last)).code, 0, `${what}, before the beginning of the check`);
    }
    await app.db.write(async tx => {
      for (const table of tables) {
        await tx.run(`DELETE FROM ${table}`);
        await tx.run(`INSERT INTO ${table} SELECT * FROM original_${table}`);
      }
    });
  }
  assert.equal((await verify()).code, 0);
  assert.equal((await from(group.last)).code, 0);
});

/** A group with one event, whose seal is correct. */
function groupOf(id: number, previous: string) {
  const event = `${id}\ncategory.created`;
  const seal = sha256(`${previous}\n${sha256(event)}\n`);
  return { firstId: `${id}`, lastId: `${id}`, previous, seal, expired: false, events: [event] };
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** Checks the log of a service that responds with these pages. */
async function verifyPages(t: TestContext, ...pages: object[][]) {
  const searches: string[] = [];
  const server = createServer(({ url }, response) => {
    searches.push(url!.split('?')[1]!);
    const page = pages[searches.length - 1]!;
    response.setHeader('content-type', 'application/json');
    if (searches.length === 1 && pages.length > 1)
      response.setHeader('link', '</events/seals?cursor=1>; rel="next"');
    response.end(JSON.stringify(page));
  });
  const url = await listenLocally(t, server);
  return { ...(await petstore.run(['events', 'verify', '--url', url])), searches };
}

it('petstore events verify rejects a group that does not continue the one before it, although its seal is correct', async t => {
  const { code, stderr } = await verifyPages(t, [groupOf(1, sha256('1')), groupOf(2, sha256('2'))]);
  assert.equal(code, 1);
  assert.match(stderr, /The group of event 2 does not continue the group before it/);
});

it('petstore events verify accepts groups that expire while it reads them', async t => {
  const first = groupOf(1, sha256('0'));
  const second = groupOf(2, first.seal);
  const expired = (group: object) => ({ ...group, expired: true, events: [] });
  const { code, stderr, searches } = await verifyPages(t, [first], [expired(second)], [expired(first)]);
  assert.deepEqual([code, stderr], [0, '']);
  assert.deepEqual(searches, ['limit=100', 'cursor=1&limit=100', 'cursor=0&limit=1']);
});
