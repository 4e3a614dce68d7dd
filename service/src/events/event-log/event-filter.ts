import { ApiError } from '../../contract/errors.ts';
import { missingScopes, type Scope, scopesInWords } from '../../contract/scopes.ts';
import type { StoredEvent } from '../../db/database.ts';
import { inCode, nearest } from '../../kit/text.ts';
import { type EventType, eventTypeNames, mayRead, readScopeOf, typesOfSubject } from './event-types.ts';
import { rejectUnknownSubject } from './subjects.ts';

/** The schema of event types and patterns that `eventFilter` accepts. */
export const typeNames = {
  type: 'array',
  items: { type: 'string', maxLength: 50, example: 'order.*' },
  minItems: 1,
  maxItems: 50,
} as const;

/** The events that a reader gets. */
export interface EventFilter {
  /** `undefined` for all types. */
  types: ReadonlySet<string> | undefined;
  /** `undefined` for all subjects. */
  subject: string | undefined;
}

/**
 * Returns the filter for the requested types, which are names such as `pet.created` or patterns such as `order.*`, and for a
 * subject such as `store/orders/17`. Without types it has those that a key with these scopes may read. Throws
 * `insufficient_scope` for a type or subject that the key may not read, and `invalid_request`.
 */
export function eventFilter(
  { types, subject }: { types?: readonly string[] | undefined; subject?: string | undefined },
  scopes: ReadonlySet<Scope>,
): EventFilter {
  if (subject !== undefined) rejectUnknownSubject(subject);
  const wanted = types?.flatMap(typesOf);
  const ofSubject = subject === undefined ? [] : typesOfSubject(subject);
  const lack = lackOf([...(wanted ?? []), ...ofSubject], scopes);
  if (lack !== undefined) {
    throw new ApiError(
      'insufficient_scope',
      `The API key lacks the ${lack}: request other events, ask an administrator to change the key, or use another key`,
    );
  }
  return { types: wanted ? new Set(wanted) : readableTypes(scopes), subject };
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

export function matches({ types, subject }: EventFilter, event: StoredEvent): boolean {
  return (!types || types.has(event.type)) && (subject === undefined || subject === event.subject);
}

/** Whether two filters have the same types. */
export function hasSameTypes({ types: a }: EventFilter, { types: b }: EventFilter): boolean {
  return a === b || (a !== undefined && b !== undefined && a.symmetricDifference(b).size === 0);
}

/** Returns the types that match a name or pattern. Throws `invalid_request` if none does. */
export function typesOf(pattern: string): EventType[] {
  const types = matchingTypes(pattern);
  if (types.length > 0) return types;
  const kinds = eventTypeNames.map(type => type.replace(/\..*/, '.*'));
  const near = nearest(pattern, [...eventTypeNames, ...kinds]);
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
