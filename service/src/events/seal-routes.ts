import { pageOf } from '../contract/page.ts';
import type { Schema } from '../contract/schema.ts';
import { dateTime, pageLimit } from '../contract/schema.ts';
import { parameters, shape } from '../contract/shape.ts';
import type { Static } from '../contract/static.ts';
import { NO_SEAL } from '../db/event-seals.ts';
import { formatDateTime } from '../kit/dates.ts';
import { defineRoute, type Route } from '../routes/define-route.ts';
import { type Json, reply } from '../routes/reply.ts';
import { shopScopes } from './event-log/event-types.ts';
import { selectNewestSeal } from './event-log/seal-queries.ts';
import { type SealedGroup as ReadGroup, readSealedGroups } from './event-log/sealed-log.ts';

const number = (description: string) =>
  ({ type: 'string', maxLength: 16, pattern: '^(0|[1-9][0-9]*)$', description }) as const satisfies Schema;

const seal = (description: string) =>
  ({
    type: 'string',
    minLength: 64,
    maxLength: 64,
    pattern: '^[0-9a-f]{64}$',
    description,
  }) as const satisfies Schema;

/** Not random, so that no scanner takes it for a secret. */
const example = '0123456789abcdef'.repeat(4);

const Checkpoint = shape({
  title: 'Checkpoint',
  properties: {
    id: number('The `id` of the last event of the newest group of events; `0` while the log is empty.'),
    seal: seal('The seal of this group, which depends on every event up to it.'),
    time: { ...dateTime, description: 'When the group was sealed.' },
  },
  example: { id: '1042', seal: example, time: '2026-11-21T12:00:00.000Z' },
});

const SealedGroup = shape({
  title: 'SealedGroup',
  properties: {
    firstId: number('The `id` of the first event of the group.'),
    lastId: number('The `id` of its last event.'),
    previous: seal('The seal of the group before; 64 zeros for the first group.'),
    seal: seal('The seal of the group.'),
    time: { ...dateTime, description: 'When the group was sealed.' },
    expired: {
      type: 'boolean',
      description: 'Whether the events of the group have expired. Its seal remains.',
    },
    events: {
      type: 'array',
      maxItems: 1_000,
      items: {
        type: 'string',
        maxLength: 100_000,
        description: 'The exact text of an event that the seal is about.',
      },
      description:
        'The events in the order of their numbers: for each the values of 13 fields, each followed by a line feed.',
    },
  },
  example: {
    firstId: '1042',
    lastId: '1042',
    previous: example,
    seal: example,
    time: '2026-11-21T12:00:00.000Z',
    expired: false,
    events: ['1042\npet.deleted\npets/1\n1795262400000\nkeys/2\n\n\n\n\n\n\n\n{"id":1}\n'],
  },
});

export const sealRoutes = (): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/events/checkpoint',
    operationId: 'getCheckpoint',
    tag: 'Events',
    summary: 'Read the newest seal of the log',
    description:
      'Note it outside of the service: later it shows whether an event up to this one was changed, added or removed since. ' +
      'The service also writes it to its log every hour and when it stops.',
    scope: 'events:read',
    anyOfScopes: shopScopes,
    stability: 'experimental',
    success: { status: 200, description: 'The newest seal.', schema: Checkpoint },
    errors: [],
    handler: async ({ db }) => {
      const newest = await selectNewestSeal(db);
      return reply.resource({
        id: String(newest?.last_id ?? 0),
        seal: newest?.seal ?? NO_SEAL,
        time: formatDateTime(newest?.time ?? 0),
      });
    },
  }),

  defineRoute({
    method: 'GET',
    path: '/events/seals',
    operationId: 'listSeals',
    tag: 'Events',
    summary: 'Read the sealed log',
    description:
      'The groups of events that were sealed together, oldest first, with the exact texts that their seals are about. With them a ' +
      'program can compute the seals itself, as `petstore events verify` does. A page ends early when its events are many or ' +
      'long; it has at least one group.',
    scope: 'admin',
    stability: 'experimental',
    query: parameters({
      limit: { ...pageLimit, description: 'The maximum number of groups on a page.' },
      cursor: {
        type: 'string',
        minLength: 1,
        maxLength: 16,
        pattern: '^(0|[1-9][0-9]{0,15})$',
        patternRule: 'must be the number of an event',
        example: '1000',
        description:
          'The `id` of an event: the list has the groups that end after it. Without a cursor it starts with the first.',
      },
    }),
    success: pageOf(SealedGroup, 'A page of groups.'),
    errors: [],
    handler: async ({ query: { cursor = '0', limit }, db, closed }) => {
      const groups = await readSealedGroups(db, { after: Number(cursor), limit, closed });
      const newest = await selectNewestSeal(db);
      const last = groups.at(-1)?.last_id;
      const page = {
        items: groups.map(groupJson),
        ...(newest && last !== undefined && last < newest.last_id && { next: String(last) }),
      };
      return reply.log(async () => page);
    },
  }),
];

/** Returns a group as JSON: its events already are. */
function groupJson(group: ReadGroup): Json<Static<typeof SealedGroup>> {
  const { first_id, last_id, previous, seal, time, digests, events } = group;
  const head = {
    firstId: String(first_id),
    lastId: String(last_id),
    previous,
    seal,
    time: formatDateTime(time),
    expired: digests === null,
  };
  return `${JSON.stringify(head).slice(0, -1)},"events":[${events.join(',')}]}` as Json<
    Static<typeof SealedGroup>
  >;
}
