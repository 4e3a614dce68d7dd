import { dateTime } from '../../contract/schema.ts';
import type { Scope } from '../../contract/scopes.ts';
import { shape } from '../../contract/shape.ts';
import type { Static } from '../../contract/static.ts';
import type { Queries, StoredEvent } from '../../db/database.ts';
import { formatDateTime } from '../../kit/dates.ts';
import { changesOf } from './changes.ts';
import type { EventFilter } from './event-filter.ts';
import * as eventLog from './event-log.ts';
import { eventTypeText, mayRead } from './event-types.ts';

const nullableText = (maxLength: number, description: string) =>
  ({ type: 'string', nullable: true, maxLength, description }) as const;

const FieldChange = shape({
  title: 'FieldChange',
  properties: {
    field: { type: 'string', maxLength: 50, description: 'The name of the field.' },
    from: { type: 'any', description: 'The value before the change; absent if the field had none.' },
    to: { type: 'any', description: 'The value after the change; absent if the field has none.' },
  },
  optional: ['from', 'to'],
  example: { field: 'quantity', from: 26, to: 24 },
});

/** A change as people read it: what it changed, and who made it. */
export const HistoryEntry = shape({
  title: 'HistoryEntry',
  properties: {
    eventId: {
      type: 'string',
      maxLength: 16,
      pattern: '^[1-9][0-9]*$',
      description: 'The `id` of the event in the log.',
    },
    time: { ...dateTime, description: 'When the change was made.' },
    type: eventTypeText,
    subject: { type: 'string', maxLength: 40, description: 'The thing that changed, such as `pets/42`.' },
    name: nullableText(
      2_000,
      'The name of the thing at that time: of the pet for its stock and its orders, if the key has `pets:read`. Null if it has none.',
    ),
    actor: {
      type: 'string',
      maxLength: 30,
      description: 'What made the change: the API key of the request, such as `keys/12`, or `system`.',
    },
    actorName: nullableText(200, 'The name of this API key, also after it was revoked. Null for `system`.'),
    requestId: nullableText(
      128,
      'The `X-Request-Id` of the request that made the change, if a request made it.',
    ),
    reason: nullableText(500, 'Why the change was made, if it is known.'),
    note: nullableText(200, 'The note of the person who made the change, if there is one.'),
    changes: {
      type: 'array',
      items: FieldChange,
      maxItems: 100,
      description:
        'The fields that changed, with their exact values. A new thing has only values after the change (`to`), and a thing that ' +
        'was deleted only its last values (`from`).',
    },
  },
  example: {
    eventId: '1042',
    time: '2026-11-21T12:00:00.000Z',
    type: 'inventory.updated',
    subject: 'store/inventory/42',
    name: 'Neon tetra',
    actor: 'keys/2',
    actorName: 'Web shop',
    requestId: '4a1d0d5e-2f5c-4c0e-9d53-1f6f0c3f8a11',
    reason: null,
    note: null,
    changes: [{ field: 'quantity', from: 26, to: 24 }],
  },
});

export type HistoryEntry = Static<typeof HistoryEntry>;

/** Returns the names of API keys by their IDs, also of those that were revoked. */
export type ReadKeyNames = (db: Queries, keyIds: readonly number[]) => Promise<ReadonlyMap<number, string>>;

/** A page of the history before it is known which names its reader may see. */
interface HistoryPage extends eventLog.PastEvents {
  /** By the IDs of API keys. */
  keyNames: ReadonlyMap<number, string>;
}

/** Returns a page of the history, newest first. The cost depends on `limit`, not on the length of the log. */
export async function read(
  db: Queries,
  filter: EventFilter,
  request: eventLog.HistoryRequest,
  readKeyNames: ReadKeyNames,
): Promise<HistoryPage> {
  const page = await eventLog.readBackwards(db, filter, request);
  const keys = page.events.flatMap(({ actor }) => keyIdOf(actor) ?? []);
  return { ...page, keyNames: await readKeyNames(db, [...new Set(keys)]) };
}

/** Returns the entries of a page for a reader with these scopes. */
export function entriesOf({ events, keyNames }: HistoryPage, scopes: ReadonlySet<Scope>): HistoryEntry[] {
  const mayReadPets = mayRead(scopes, 'pet.created');
  return events.map(event => entryOf(event, keyNames, mayReadPets));
}

/** Outside of administration, the name that an event has in addition to its data is that of a pet. */
function entryOf(
  event: StoredEvent,
  keyNames: ReadonlyMap<number, string>,
  mayReadPets: boolean,
): HistoryEntry {
  const { id, type, subject, time, actor, request_id: requestId, reason, note } = event;
  const keyId = keyIdOf(actor);
  return {
    eventId: String(id),
    time: formatDateTime(time),
    type,
    subject,
    name: event.name === null ? nameIn(event.data) : mayReadPets ? event.name : null,
    actor,
    actorName: (keyId !== undefined && keyNames.get(keyId)) || null,
    requestId,
    reason,
    note,
    changes: changesOf(event),
  };
}

function keyIdOf(actor: string): number | undefined {
  return actor.startsWith('keys/') ? Number(actor.slice('keys/'.length)) : undefined;
}

function nameIn(data: string): string | null {
  const { name } = JSON.parse(data) as { name?: unknown };
  return typeof name === 'string' ? name : null;
}
