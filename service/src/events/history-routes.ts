import { pageOf } from '../contract/page.ts';
import { dateTime, pageLimit } from '../contract/schema.ts';
import { parameters } from '../contract/shape.ts';
import { defineRoute, type Route } from '../routes/define-route.ts';
import { type Json, reply } from '../routes/reply.ts';
import { eventFilter, hasSameRights } from './event-log/event-filter.ts';
import { shopScopes } from './event-log/event-types.ts';
import { entriesOf, HistoryEntry, type ReadKeyNames, read } from './event-log/history.ts';
import { filters, instantOf, RIGHTS } from './event-routes.ts';

const query = parameters({
  ...filters,
  related: {
    type: 'boolean',
    description:
      'With a `subject` that is a pet: also the changes of its stock and of its orders, as far as the key may read them.',
  },
  from: { ...dateTime, description: 'Changes from this time on.' },
  to: { ...dateTime, description: 'Changes before this time.' },
  limit: { ...pageLimit, description: 'The maximum number of changes on a page.' },
  cursor: {
    type: 'string',
    minLength: 1,
    maxLength: 16,
    pattern: '^[1-9][0-9]{0,15}$',
    patternRule: 'must be taken unchanged from the Link header of a page',
    example: '1042',
    description:
      'The cursor of the next page, from the header `Link`. The list continues with earlier changes.',
  },
});

export const historyRoutes = ({ readKeyNames }: { readKeyNames: ReadKeyNames }): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/history',
    operationId: 'listHistory',
    tag: 'Events',
    summary: 'Read who changed what',
    description:
      'All changes, newest first, with the values before and after each change, the name of the thing at that time, and the name of ' +
      'the API key that made the change. It has the same changes as the log of events, and is retained as long. An entry is ' +
      `complete even when earlier events have expired. ${RIGHTS}`,
    scope: 'events:read',
    anyOfScopes: shopScopes,
    stability: 'experimental',
    query,
    success: pageOf(HistoryEntry, 'A page of changes.'),
    errors: [],
    handler: async ({ query, db, caller, closed }) => {
      const { cursor, from, to, limit } = query;
      const request = {
        limit,
        cursor: cursor === undefined ? undefined : Number(cursor),
        from: instantOf(from),
        to: instantOf(to),
        closed,
      };
      let filter = eventFilter(query, caller);
      let page = await read(db, filter, request, readKeyNames);
      return reply.log(async scopes => {
        const present = eventFilter(query, { ...caller, scopes });
        if (hasSameRights(filter, present)) {
          const items = entriesOf(page, scopes).map(item => JSON.stringify(item) as Json<HistoryEntry>);
          return { items, ...(page.next !== undefined && { next: String(page.next) }) };
        }
        filter = present;
        page = await read(db, filter, request, readKeyNames);
        return undefined;
      });
    },
  }),
];
