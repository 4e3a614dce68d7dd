import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Receiver } from '../../events/receiver.ts';
import { aPet } from '../../support/factories.ts';
import { isFormula, spreadsheetCells } from '../../support/spreadsheet.ts';
import { valuesOf } from '../../support/values.ts';
import type { CommandRuns } from './runs.ts';

/** The commands that read the log of events. */
export function eventCommands({ json, one, shop, petstore }: CommandRuns): void {
  it('lists and follows events', async () => {
    await shop.app.db.numberEvents();
    const listed = await json('events', 'list', '--type', 'pet.*', '--limit', '2');
    assert.deepEqual(valuesOf(listed, 'type'), ['pet.created', 'pet.created']);
    assert.deepEqual(await json('events', 'tail', '--from', '0', '--type', 'pet.*', '--limit', '2'), listed);
    const [first, second] = listed;
    assert.deepEqual(
      await json('events', 'list', '--from', `${first!.id}`, '--type', 'pet.*', '--limit', '1'),
      [second],
    );
    for (const [option, events] of Object.entries({ '--since': listed, '--until': [] }))
      assert.deepEqual(
        await json('events', 'list', '--type', 'pet.*', '--limit', '2', option, '900w'),
        events,
      );
  });

  it('shows the history and verifies the log', async () => {
    const seller = await shop.clientWith({
      scopes: ['orders:write', 'events:read', 'orders:read', 'pets:read'],
    });
    const petId = await aPet(shop.api);
    const { body: order } = await seller.post('/store/orders', { petId });
    await shop.api.delete(`/store/orders/${order.id}`);
    await shop.app.db.numberEvents();
    const actor = ['--actor', 'test client'];
    const [entry] = await json('history', '--type', 'order.placed', '--since', '900w', ...actor);
    assert.deepEqual([entry!.actor, entry!.actorName], [`keys/${seller.keyId}`, 'Test client']);
    assert.match(String(entry!.change), /^petId \d+, quantity 1/);
    const ofPet = ['--subject', `pets/${petId}`, '--related', '--type', 'order.placed'];
    assert.deepEqual(await json('history', ...ofPet, ...actor), [entry]);
    const exported = await json('export', 'history', '--type', 'order.*', ...actor);
    assert.deepEqual(
      exported.find(({ eventId }) => eventId === entry!.eventId),
      entry,
    );
    const csv = await petstore.run(['history', '--subject', 'keys/1', '--csv']);
    assert.match(
      csv.stdout,
      /^time,actorName,type,name,subject,change,reason,note\n[\s\S]*,key\.created,Administrator,keys\/1,/,
    );
    const formulas = { name: 'Formulas', description: 'a;=1+1' };
    const { body: category } = await shop.api.post('/categories', formulas);
    await shop.api.delete(`/categories/${category.id}`);
    await shop.app.db.numberEvents();
    const subject = ['--subject', `categories/${category.id}`];
    for (const [command, isRaw] of [
      [['history', '--csv'], false],
      [['export', 'history'], false],
      [['export', 'history', '--raw'], true],
    ] as const) {
      const { stdout } = await petstore.run([...command, ...subject]);
      for (const separator of [',', ';', '\t'])
        assert.equal(spreadsheetCells(stdout, separator).some(isFormula), isRaw && separator === ';', stdout);
    }
    const nameless = await petstore.run(['history', '--actor', 'Nemo']);
    assert.deepEqual([nameless.code, nameless.stdout], [2, '']);
    assert.match(nameless.stderr, /No API key has the name "Nemo"/);
    const { keyId } = await shop.clientWith({});
    const several = await petstore.run(['history', ...actor]);
    assert.deepEqual([several.code, several.stdout], [2, '']);
    assert.ok(several.stderr.includes(`one of keys/${seller.keyId}, keys/${keyId}`), several.stderr);
    const asSeller = { PETSTORE_API_KEY: seller.key };
    const own = await petstore.run(
      ['history', '--actor', 'Test client', '--type', 'order.placed', '--json'],
      asSeller,
    );
    assert.deepEqual(JSON.parse(own.stdout), entry);
    const other = await petstore.run(['history', '--actor', 'Administrator'], asSeller);
    assert.deepEqual([other.code, other.stdout], [2, '']);
    assert.match(other.stderr, /Only administrators can look up/);
    await shop.app.sweeper.run();
    await shop.app.db.numberEvents();
    const refused = await shop.api.get(`/history?type=access.refused&actor=keys/${seller.keyId}`);
    assert.deepEqual(refused.body, [], 'looking up a name is no attempt to read keys');
    const checkpoint = await one('events', 'checkpoint');
    const noted = `${checkpoint.id}:${checkpoint.seal}`;
    const verified = await one('events', 'verify', '--checkpoint', noted);
    assert.deepEqual(
      [verified.outcome, verified.lastId],
      [`as written, with the checkpoint ${checkpoint.id}`, String(checkpoint.id)],
    );
    const empty = await petstore.run(['events', 'verify', '--checkpoint', `0:${'0'.repeat(64)}`]);
    assert.deepEqual([empty.code, empty.stderr], [0, '']);
    const late = await petstore.run(`events verify --from ${checkpoint.id} --checkpoint ${noted}`.split(' '));
    assert.equal(late.code, 2);
    assert.match(late.stderr, /is not after --from/);
    const forged = await petstore.run([
      ...'events verify --checkpoint'.split(' '),
      `${checkpoint.id}:${'0'.repeat(64)}`,
    ]);
    assert.deepEqual([forged.code, forged.stdout], [1, '']);
    assert.match(forged.stderr, /The checkpoint differs: an event up to \d+ was changed/);
    const removed = await petstore.run([
      ...'events verify --checkpoint'.split(' '),
      `${Number(checkpoint.id) + 1}:${checkpoint.seal}`,
    ]);
    assert.deepEqual([removed.code, removed.stdout], [1, '']);
    assert.match(removed.stderr, /The checkpoint is not part of what was read: no group ends with event/);
  });

  it('forwards events to a local program', async () => {
    const program = await Receiver.start();
    const options = ['--forward-to', program.url, '--from', '0', '--type', 'pet.*', '--limit', '1'];
    const { type, status } = await one('listen', ...options);
    await program.close();
    assert.deepEqual([type, status], ['pet.created', 204]);
  });
}
