import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SealedGroup } from '@petstore/client';
import { command } from '../command.ts';
import { UsageError } from '../failure.ts';
import { position, text } from '../parameters.ts';
import { verification } from '../resources.ts';

const sha256 = (content: string) => createHash('sha256').update(content).digest('hex');

/** The seal of a log without events. */
const NO_SEAL = '0'.repeat(64);

/** The history differs from what was written. */
class HistoryRewritten extends Error {}

export const verify = command({
  name: 'events verify',
  summary: 'Check that no event was changed, added or removed after it was written',
  details:
    'It computes the seals of the log itself, from the texts of the events. Only a checkpoint from outside of the shop shows that ' +
    'the whole log was not written anew: note one from time to time with petstore events checkpoint.',
  options: {
    from: position('The ID of an event: checks the groups of events that end after it'),
    checkpoint: text('A seal that was noted before', 'id:seal'),
  },
  examples: ['petstore events verify', 'petstore events verify --checkpoint 1042:a3f1…'],
  operations: ['GET /events/seals'],
  output: 'item',
  prints: verification,
  run: async ({ store, calls }, { from, checkpoint }) => {
    const noted = checkpoint === undefined ? undefined : toCheckpoint(checkpoint);
    if (noted && from !== undefined && Number(from) >= Number(noted.id))
      throw new UsageError(`The checkpoint ${noted.id} is not after --from ${from}: leave out --from`);
    let found = noted?.id === '0' ? NO_SEAL : undefined;
    let [groups, events, expired] = [0, 0, 0];
    let last: SealedGroup | undefined;
    // The log expires from its start, also while it is read.
    const expiredMeanwhile = async ({ firstId }: SealedGroup) => {
      const query = { cursor: String(Number(firstId) - 1), limit: 1 };
      return (await store.events.seals(query, calls).first())?.expired;
    };
    for await (const group of store.events.seals({ cursor: from, limit: 100 }, calls)) {
      if (last && group.previous !== last.seal)
        throw new HistoryRewritten(
          `The group of event ${group.firstId} does not continue the group before it`,
        );
      if (last) rejectGap(Number(last.lastId) + 1, group);
      if (group.expired) {
        const isAfterExpired = !last || last.expired || (await expiredMeanwhile(last));
        if (!isAfterExpired || group.events.length > 0)
          throw new HistoryRewritten(
            `The group of event ${group.firstId} is marked as expired, but has events or follows a group that has not expired`,
          );
        expired++;
      } else reject(group);
      if (noted?.id === group.lastId) found = group.seal;
      groups++;
      events += group.events.length;
      last = group;
      await nextTurn();
    }
    if (noted && found !== noted.seal)
      throw new HistoryRewritten(
        found === undefined
          ? `The checkpoint is not part of what was read: no group ends with event ${noted.id}`
          : `The checkpoint differs: an event up to ${noted.id} was changed, added or removed`,
      );
    const outcome = noted ? `as written, with the checkpoint ${noted.id}` : 'as written';
    const { lastId = '0', seal = '' } = last ?? {};
    return { outcome, groups, events, expiredGroups: expired, lastId, seal };
  },
});

/** Throws when numbers are missing before a group, unless it starts a range of numbers after a restore. */
function rejectGap(expected: number, { firstId, expired, events }: SealedGroup): void {
  if (Number(firstId) === expected) return;
  const startsRange =
    Number(firstId) % RANGE === 1 && (expired || events[0]?.split('\n')[1] === 'log.restored');
  if (!startsRange) throw new HistoryRewritten(`Event ${expected} is missing, with the seal of its group`);
}

/** Each restore continues the numbers of events after a multiple of it. */
const RANGE = 1_000_000_000;

/** Throws unless the texts of a group are those that were sealed. */
function reject({ firstId, lastId, previous, seal, events }: SealedGroup): void {
  for (const [i, event] of events.entries()) {
    const id = String(Number(firstId) + i);
    if (!event.startsWith(`${id}\n`)) throw new HistoryRewritten(`Event ${id} is missing`);
  }
  if (events.length !== Number(lastId) - Number(firstId) + 1)
    throw new HistoryRewritten(`Event ${Number(firstId) + events.length} is missing`);
  const digests = events.map(event => `${sha256(event)}\n`).join('');
  if (sha256(`${previous}\n${digests}`) !== seal)
    throw new HistoryRewritten(
      firstId === lastId
        ? `Event ${firstId} was changed`
        : `An event from ${firstId} to ${lastId} was changed`,
    );
}

function toCheckpoint(text: string): { id: string; seal: string } {
  const [, id, seal] = /^(\d{1,16}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (id !== undefined && seal !== undefined) return { id, seal };
  throw new UsageError('A checkpoint is written as the number of an event, a colon and a seal of 64 digits');
}
