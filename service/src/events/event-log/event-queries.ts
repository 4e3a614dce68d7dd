import { one, type Queries, type QueryPlan, type StoredEvent } from '../../db/database.ts';
import { RESTORED_TYPE, type Restoration, restorationOf } from '../../db/event-ranges.ts';
import { NEW_EVENT_COLUMNS } from '../../db/new-events.ts';
import { MAX_COUNTED } from '../../kit/paging.ts';
import type { EventFilter } from './event-filter.ts';
import { collections, eventTypeNames, isWarning, typesOfCollection, typesOfSubject } from './event-types.ts';

/** The number of the latest event, and of the oldest event in the log. `oldest` is `latest + 1` if the log is empty. */
interface Ends {
  oldest: number;
  latest: number;
}

const ENDS = 'last_id AS latest, coalesce((SELECT min(id) FROM events), last_id + 1) AS oldest';

/** The actor of changes without a request. */
const SYSTEM = 'system';

/** The ends of the log, and the first restore after a position; `undefined` if there is none. */
export interface EndsAfter extends Ends {
  restoration: Restoration | undefined;
}

/** The first `log.restored` after a position. One look-up in the index of types finds it, or that there is none. */
const RESTORATION = `(
  SELECT id AS restored_id, data AS restored_data FROM events WHERE type = '${RESTORED_TYPE}' AND id > ? ORDER BY id LIMIT 1
) AS restoration`;

interface EndsRow extends Ends {
  restored_id: number | null;
  restored_data: string | null;
}

function endsOf({ oldest, latest, restored_id: id, restored_data: data }: EndsRow): EndsAfter {
  return { oldest, latest, restoration: id && data ? restorationOf({ id, data }) : undefined };
}

/** A part of the log: the events after `after`, up to and including `until`, or up to the end. */
interface LogPart {
  after: number;
  until?: number | undefined;
}

/** The order of a page: oldest or newest first. */
type LogOrder = 'ASC' | 'DESC';

/** How many events of a subject are examined in a turn of the event loop for those of an actor: no index has both. */
const SLICE = 1_000;

/** A page of events of a subject by an actor, or a part of it. */
interface SliceRead extends Omit<EventsRead, 'total'> {
  /** The last event of the subject that was examined; null if it has no more in this part of the log. */
  end: number | null;
}

export interface EventsRead extends EndsAfter {
  events: StoredEvent[];
  /** The number of events in `counted` that match the filter; at most one more than `MAX_COUNTED`. */
  total: number | undefined;
}

/**
 * Returns the first `limit` events of a part of the log that match the filter, in this order, the ends of the log, the first
 * restore in this part, and the number of matching events in `counted`, if it is given. One statement reads all of it, so that no
 * event can expire in between. The cost depends on `limit` and the number of types, not on the log.
 */
export async function selectEvents(
  db: Queries,
  filter: EventFilter,
  {
    limit,
    counted,
    order = 'ASC',
    ...part
  }: LogPart & { limit: number; counted?: LogPart | undefined; order?: LogOrder },
): Promise<EventsRead> {
  const [condition, values] = pageCondition(filter, part, limit, order);
  const [total, countValues] = counted ? countOf(filter, counted) : ['', []];
  const rows = await db.all<PageRow & { total?: number }>(
    selectPage(total, condition, order),
    [...countValues, part.after, ...values, limit],
    planOf(filter),
  );
  const first = rows[0]!;
  return { ...endsOf(first), total: first.total, events: eventsIn(rows) };
}

/**
 * Does the same for a subject and an actor, but examines at most `SLICE` events of the subject. Of events by other actors it reads no
 * data.
 */
export async function selectSlice(
  db: Queries,
  filter: EventFilter & { actor: string },
  { limit, order = 'ASC', ...part }: LogPart & { limit: number; order?: LogOrder | undefined },
): Promise<SliceRead> {
  const [condition, values] = pageCondition(filter, part, SLICE, order);
  const last = order === 'ASC' ? 'max' : 'min';
  const rows = await db.all<PageRow & { slice_end: number | null }>(
    `WITH slice AS MATERIALIZED (SELECT id, actor FROM events WHERE ${condition})
     ${selectPage(
       `, (SELECT CASE count(*) WHEN ${SLICE} THEN ${last}(id) END FROM slice) AS slice_end`,
       `id IN (SELECT id FROM slice WHERE actor = ? ORDER BY id ${order} LIMIT ?)`,
       order,
     )}`,
    [...values, part.after, filter.actor, limit, limit],
  );
  const first = rows[0]!;
  return { ...endsOf(first), events: eventsIn(rows), end: first.slice_end };
}

type PageRow = EndsRow & (StoredEvent | { id: null });

/** Selects the ends of the log, the first restore after a position, a further column, and the first events that meet a condition. */
function selectPage(column: string, condition: string, order: LogOrder): string {
  return `SELECT ${ENDS}${column}, restored_id, restored_data, page.*
    FROM event_log LEFT JOIN ${RESTORATION} ON TRUE LEFT JOIN (
      SELECT id, ${NEW_EVENT_COLUMNS} FROM events WHERE ${condition} ORDER BY id ${order} LIMIT ?
    ) AS page ON TRUE ORDER BY page.id ${order}`;
}

/** Without events, the only row has the ends of the log. */
function eventsIn(rows: readonly PageRow[]): StoredEvent[] {
  return rows.filter(row => row.id !== null);
}

/** Of types and actors, one has nearly all events, and another nearly none. A subject has few. */
function planOf({ subject, types, actor }: EventFilter): QueryPlan | undefined {
  return subject === undefined && (types ?? actor) !== undefined ? 'custom' : undefined;
}

type Values = (number | string)[];

/**
 * Returns the condition for the events of a page. An index has the events of one type, or of one subject or actor and type, in the
 * order of their IDs, but not those of several types: the query merges the first `limit` events of each type.
 */
function pageCondition(
  filter: EventFilter,
  part: LogPart,
  limit: number,
  order: LogOrder,
): [condition: string, values: Values] {
  const ranges = rangesOf(filter, part);
  if (ranges === undefined) return conditionOf(part);
  // Numbers start at 1, so this matches no event.
  if (ranges.length === 0) return ['id = 0', []];
  const branches = ranges.map(
    ([range]) =>
      `SELECT id FROM (SELECT id FROM events WHERE ${range} ORDER BY id ${order} LIMIT ?) AS of_type`,
  );
  return [
    `id IN (SELECT id FROM (${branches.join(' UNION ALL ')}) AS found ORDER BY id ${order} LIMIT ?)`,
    [...ranges.flatMap(([, values]) => [...values, limit]), limit],
  ];
}

/** Returns a column with the number of matching events. */
function countOf(filter: EventFilter, part: LogPart): [column: string, values: Values] {
  const ranges = rangesOf(filter, part) ?? [conditionOf(part)];
  if (ranges.length === 0) return [', 0 AS total', []];
  const branches = ranges.map(
    ([range]) => `SELECT * FROM (SELECT 1 FROM events WHERE ${range} LIMIT ?) AS of_type`,
  );
  const limit = MAX_COUNTED + 1;
  return [
    `, (SELECT count(*) FROM (${branches.join(' UNION ALL ')} LIMIT ?) AS counted) AS total`,
    [...ranges.flatMap(([, values]) => [...values, limit]), limit],
  ];
}

/**
 * Returns the ranges of an index that have the events of a filter; `undefined` for all events. With a subject and an actor they have
 * the events of the subject by all actors.
 */
function rangesOf(filter: EventFilter, part: LogPart): [condition: string, values: Values][] | undefined {
  const [ids, bounds] = conditionOf(part);
  return columnsOf(filter)?.flatMap(({ column, value, types }) =>
    Array.from(types, (type): [string, Values] =>
      column === undefined
        ? [`type = ? AND ${ids}`, [type, ...bounds]]
        : [`${column} = ? AND type = ? AND ${ids}`, [value, type, ...bounds]],
    ),
  );
}

/** The values of the columns that an index begins with, and the types for each. */
function columnsOf({
  types,
  subject,
  related,
  actor,
  ownKey,
}: EventFilter): { column?: string; value: string; types: ReadonlySet<string> }[] | undefined {
  if (subject !== undefined) {
    const own = { column: 'subject', value: subject, types: typesOfSubject(subject, types) };
    if (!related) return [own];
    const stock = subject.replace(collections.pet, collections.inventory);
    return [
      own,
      { column: 'subject', value: stock, types: typesOfSubject(stock, types) },
      { column: 'related', value: subject, types: typesOfCollection(collections.order, types) },
    ];
  }
  const [others, warnings] = withoutWarnings(types, ownKey);
  // All warnings are of the system.
  const own = actor === undefined || actor === SYSTEM ? warnings : [];
  if (actor !== undefined)
    return [{ column: 'actor', value: actor, types: others ?? new Set(eventTypeNames) }, ...own];
  return others && [{ value: '', types: others }, ...own];
}

/** The types without the warnings that a reader gets only about its own key, and the range with those. */
function withoutWarnings(types: ReadonlySet<string> | undefined, ownKey: string | undefined) {
  if (types === undefined || ownKey === undefined) return [types, []] as const;
  const warnings = new Set([...types].filter(isWarning));
  const own = { column: 'subject', value: ownKey, types: warnings };
  return [types.difference(warnings), [own]] as const;
}

function conditionOf({ after, until }: LogPart): [condition: string, values: Values] {
  return until === undefined ? ['id > ?', [after]] : ['id > ? AND id <= ?', [after, until]];
}

export async function selectEnds(db: Queries): Promise<Ends> {
  return one<Ends>(db, `SELECT ${ENDS} FROM event_log`);
}

export async function selectEndsAfter(db: Queries, position: number): Promise<EndsAfter> {
  return endsOf(
    await one<EndsRow>(
      db,
      `SELECT ${ENDS}, restored_id, restored_data FROM event_log LEFT JOIN ${RESTORATION} ON TRUE`,
      [position],
    ),
  );
}

/**
 * Returns the last event of the first `limit` for which it and all events before it are older than `time`; null if there is
 * none.
 */
export async function selectLastBefore(db: Queries, time: number, limit: number): Promise<number | null> {
  const row = await db.get<{ id: number | null }>(
    `SELECT max(id) AS id FROM (
       SELECT id, max(time) OVER (ORDER BY id) AS latest_time
       FROM (SELECT id, time FROM events ORDER BY id LIMIT ?) AS first_events
     ) AS dated WHERE latest_time < ?`,
    [limit, time],
  );
  return row?.id ?? null;
}
