import type { Transaction } from '../../src/db/database.ts';

const ADD_EVENT =
  "INSERT INTO events (id, type, subject, time, data, actor) VALUES (?, 'x', 'y', 0, '{}', 'system')";

/**
 * What somebody with access to the store can do, and what the check says. `at` returns the numbers of the last seven events of the log,
 * which are in groups of one, one, four and one.
 */
export const forgeriesOf = (
  at: (place: number) => number,
): Record<string, [forge: (tx: Transaction) => Promise<unknown>, finding: string]> => ({
  'the data of an event was changed': [
    tx => tx.run(`UPDATE events SET data = replace(data, '"A ', '"X ') WHERE id = ?`, [at(3)]),
    `Event ${at(3)} was changed$`,
  ],
  'the actor of an event was changed': [
    tx => tx.run("UPDATE events SET actor = 'keys/9' WHERE id = ?", [at(4)]),
    `Event ${at(4)} was changed$`,
  ],
  'the time of an event was changed': [
    tx => tx.run('UPDATE events SET time = time + 1 WHERE id = ?', [at(2)]),
    `Event ${at(2)} was changed$`,
  ],
  'an old value was added': [
    tx => tx.run("UPDATE events SET old_values = '[]' WHERE id = ?", [at(2)]),
    `Event ${at(2)} was changed$`,
  ],
  'the first event was deleted': [
    tx => tx.run('DELETE FROM events WHERE id = ?', [at(1)]),
    'Event \\d+ was removed(, with the seal of its group)?$',
  ],
  'an event in the middle was deleted': [
    tx => tx.run('DELETE FROM events WHERE id = ?', [at(4)]),
    `Event ${at(4)} was removed$`,
  ],
  'the last event was deleted': [
    tx => tx.run('DELETE FROM events WHERE id = (SELECT max(id) FROM events)'),
    `Event ${at(7)} was removed$`,
  ],
  'the last event was deleted with its seal': [
    async tx => {
      await tx.run('DELETE FROM events WHERE id = ?', [at(7)]);
      await tx.run('DELETE FROM event_seals WHERE last_id = ?', [at(7)]);
    },
    `Event ${at(7)} has no seal, or was removed with its seal$`,
  ],
  'a seal in the middle was deleted with its events': [
    async tx => {
      await tx.run('DELETE FROM event_seals WHERE last_id = ?', [at(2)]);
      await tx.run('DELETE FROM events WHERE id = ?', [at(2)]);
    },
    `Event ${at(2)} was removed, with the seal of its group$`,
  ],
  'two events were swapped': [
    async tx => {
      await tx.run('UPDATE events SET id = -3 WHERE id = ?', [at(3)]);
      await tx.run('UPDATE events SET id = ? WHERE id = ?', [at(3), at(4)]);
      await tx.run('UPDATE events SET id = ? WHERE id = -3', [at(4)]);
    },
    `Event ${at(3)} was changed$`,
  ],
  'events were renumbered': [
    async tx => {
      await tx.run('DELETE FROM events WHERE id = ?', [at(3)]);
      for (const id of [4, 5, 6, 7].map(at))
        await tx.run('UPDATE events SET id = ? WHERE id = ?', [id - 1, id]);
    },
    `Event ${at(3)} was changed$`,
  ],
  'an event was changed, and its digest with it': [
    async tx => {
      await tx.run("UPDATE events SET actor = 'keys/9' WHERE id = ?", [at(4)]);
      await tx.run('UPDATE event_seals SET digests = NULL WHERE last_id = ?', [at(6)]);
    },
    `Event ${at(3)} was removed: its group is marked as expired, but earlier ones are not$`,
  ],
  'an event was added before the first': [
    tx => tx.run(ADD_EVENT, [at(0)]),
    `Event (${at(0)} was added|\\d+ was removed, with the seal of its group$)`,
  ],
  'an event was added after the last': [
    tx => tx.run(ADD_EVENT, [at(8)]),
    `Event ${at(8)} (was added: it has no seal|has no seal, or was removed)`,
  ],
  'the first group was marked as expired, and its event kept': [
    tx => tx.run('UPDATE event_seals SET digests = NULL WHERE last_id = ?', [at(1)]),
    `Event ${at(1)} was (added: its group has expired|removed: its group is marked as expired)`,
  ],
  'a seal was changed': [
    tx => tx.run('UPDATE event_seals SET seal = ? WHERE last_id = ?', ['0'.repeat(64), at(2)]),
    `An event from ${at(2)} to ${at(2)} was changed, or the seal`,
  ],
});
