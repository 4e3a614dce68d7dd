import { ApiError } from '../../contract/errors.ts';
import { missingScopes, type Scope, scopesInWords } from '../../contract/scopes.ts';
import type { StoredEvent } from '../../db/database.ts';
import { inCode, nearest } from '../../kit/text.ts';
import {
  collections,
  type EventType,
  eventTypeNames,
  isWarning,
  mayRead,
  readScopeOf,
  typesOfSubject,
} from './event-types.ts';
import { rejectUnknownSubject } from './subjects.ts';

/** The schema of event types and patterns that `eventFilter` accepts. */
export const typeNames = {
  type: 'array',
  items: {
    type: 'string',
    maxLength: 50,
    pattern: '^[a-z]+\\.([a-z_]+|\\*)$',
    // `eventFilter` has a better message.
    strictPattern: '',
    example: 'order.*',
  },
  minItems: 1,
  maxItems: 50,
} as const;

/** The events that a reader gets. */
export interface EventFilter {
  /** `undefined` for all types. */
  types: ReadonlySet<string> | undefined;
  /** `undefined` for all subjects. */
  subject: string | undefined;
  /** Whether the events of the stock and of the orders of the subject, which is a pet, belong to it. */
  related?: boolean | undefined;
  /** `undefined` for all actors. */
  actor?: string | undefined;
  /** The only subject whose warnings the reader gets, which is its key; `undefined` for the warnings of all keys. */
  ownKey?: string | undefined;
}

/** The key that reads events. */
export interface EventReader {
  keyId: number;
  scopes: ReadonlySet<Scope>;
}

/** The parameters of a query from which `eventFilter` makes a filter. */
export interface WantedEvents {
  type?: readonly string[] | undefined;
  subject?: string | undefined;
  related?: boolean | undefined;
  actor?: string | undefined;
}

/**
 * Returns the filter for the requested types, which are names such as `pet.created` or patterns such as `order.*`, and for a
 * subject such as `store/orders/17`. Without types it has those that the key may read. Throws `insufficient_scope` for a type or subject
 * that the key may not read, and `invalid_request`.
 */
export function eventFilter(
  { type: types, subject, related = false, actor }: WantedEvents,
  reader: EventReader,
): EventFilter {
  const { scopes } = reader;
  const ownKey = ownKeyOf(reader);
  if (subject !== undefined) rejectUnknownSubject(subject);
  if (related) rejectUnrelated(subject);
  const wanted = types?.flatMap(typesOf);
  // Of its own key a reader gets the warnings.
  const ofSubject = subject === undefined || subject === ownKey ? [] : typesOfSubject(subject);
  const lack = lackOf([...(wanted ?? []), ...ofSubject], scopes);
  if (lack !== undefined) {
    // The holder of a key asks for `key.*` to be warned.
    const own = wanted?.filter(isWarning) ?? [];
    const others = `other events${own.length > 0 ? `, such as ${inCode(own)} about the key itself` : ''}`;
    throw new ApiError(
      'insufficient_scope',
      `The API key lacks the ${lack}: request ${others}, ask an administrator to change the key, or use another key`,
    );
  }
  return { types: wanted ? new Set(wanted) : readableTypes(scopes), subject, related, actor, ownKey };
}

/** Returns the key about which a reader may read warnings; `undefined` if it may read those of all keys. */
export function ownKeyOf({ keyId, scopes }: EventReader): string | undefined {
  return scopes.has('admin') ? undefined : `${collections.key}/${keyId}`;
}

/** Returns the types that a key with these scopes may read; `undefined` for all types. */
export function readableTypes(scopes: ReadonlySet<Scope>): ReadonlySet<EventType> | undefined {
  return scopes.has('admin') ? undefined : new Set(eventTypeNames.filter(type => mayRead(scopes, type)));
}

/**
 * Returns what a key with these scopes lacks to read events of all these types: one or more scopes with an example of the
 * types that need them, such as ``scope `orders:read` for events `order.placed` ``; `undefined` if it lacks nothing.
 */
export function lackOf(types: readonly EventType[], scopes: ReadonlySet<Scope>): string | undefined {
  const missing = missingScopes([...new Set(types.map(readScopeOf))], scopes);
  if (missing.length === 0) return undefined;
  const examples = missing.map(scope => types.find(type => readScopeOf(type) === scope)!);
  return `${scopesInWords(missing)} for events ${inCode(examples)}`;
}

/** Throws unless the subject is a pet, whose stock and orders are related to it. */
function rejectUnrelated(subject: string | undefined): void {
  if (subject?.startsWith(`${collections.pet}/`)) return;
  throw new ApiError(
    'invalid_request',
    'Query parameter `related` needs a `subject` that is a pet, such as `pets/42`: its stock and its orders are related to it',
  );
}

/** Whether an event passes a filter without `related`. */
export function matches({ types, subject, actor, ownKey }: EventFilter, event: StoredEvent): boolean {
  return (
    (!types || types.has(event.type)) &&
    (subject === undefined || subject === event.subject) &&
    (actor === undefined || actor === event.actor) &&
    (ownKey === undefined || ownKey === event.subject || !isWarning(event.type))
  );
}

/** Whether two filters of one reader give the same rights: they have the same types, and warnings about the same keys. */
export function hasSameRights(one: EventFilter, other: EventFilter): boolean {
  const [a, b] = [one.types, other.types];
  const hasSameTypes = a === b || (a !== undefined && b !== undefined && a.symmetricDifference(b).size === 0);
  return hasSameTypes && one.ownKey === other.ownKey;
}

/** Types that clients expect, because other resources have them, by what orders and keys have instead. */
const expected: Readonly<Record<string, EventType>> = {
  'order.created': 'order.placed',
  'order.deleted': 'order.cancelled',
  'key.deleted': 'key.revoked',
};

/** Returns the types that match a name or pattern. Throws `invalid_request` if none does. */
export function typesOf(pattern: string): EventType[] {
  const types = matchingTypes(pattern);
  if (types.length > 0) return types;
  const kinds = eventTypeNames.map(type => type.replace(/\..*/, '.*'));
  const near = expected[pattern] ?? nearest(pattern, [...eventTypeNames, ...kinds]);
  throw new ApiError(
    'invalid_request',
    `There is no event type \`${pattern}\`${near ? `; did you mean \`${near}\`?` : '; event types are, for example, `pet.created` and `order.*`'}`,
  );
}

/** Returns the types that match a name or pattern; none if it is unknown. */
export function matchingTypes(pattern: string): EventType[] {
  return pattern.endsWith('.*')
    ? eventTypeNames.filter(type => type.startsWith(pattern.slice(0, -1)))
    : eventTypeNames.filter(type => type === pattern);
}
