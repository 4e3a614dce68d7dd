import { ApiError } from '../../contract/errors.ts';
import type { StoredEvent } from '../../db/database.ts';
import { nearest } from '../../kit/text.ts';
import { type EventType, eventTypeNames, isConfidential } from './event-types.ts';
import { storedSubject } from './subjects.ts';

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
  /** A subject as the log stores it; `undefined` for all subjects. */
  subject: string | undefined;
}

/**
 * Returns the filter for the requested types, which are names such as `pet.created` or patterns such as `order.*`, and for a
 * subject such as `store/orders/17`. Only administrators get events of keys, even when they request no types. Throws
 * `insufficient_scope` and `invalid_request`.
 */
export function eventFilter(
  { types, subject: printed }: { types?: readonly string[] | undefined; subject?: string | undefined },
  isAdministrator: boolean,
): EventFilter {
  const subject = printed === undefined ? undefined : storedSubject(printed);
  if (types === undefined && isAdministrator) return { types: undefined, subject };
  const wanted = types === undefined ? eventTypeNames : types.flatMap(typesOf);
  const forbidden = types && !isAdministrator && wanted.find(isConfidential);
  if (forbidden) {
    throw new ApiError('insufficient_scope', `Events \`${forbidden}\` need the scope \`admin\``);
  }
  const allowed = isAdministrator ? wanted : wanted.filter(type => !isConfidential(type));
  return { types: new Set(allowed), subject };
}

export function matches({ types, subject }: EventFilter, event: StoredEvent): boolean {
  return (!types || types.has(event.type)) && (subject === undefined || subject === event.subject);
}

/** Returns the types that match a name or pattern. Throws `invalid_request` if none does. */
export function typesOf(pattern: string): EventType[] {
  const types = pattern.endsWith('.*')
    ? eventTypeNames.filter(type => type.startsWith(pattern.slice(0, -1)))
    : eventTypeNames.filter(type => type === pattern);
  if (types.length > 0) return types;
  const kinds = eventTypeNames.map(type => type.replace(/\..*/, '.*'));
  const near = nearest(pattern, [...eventTypeNames, ...kinds]);
  throw new ApiError(
    'invalid_request',
    `There is no event type \`${pattern}\`${near ? `; did you mean \`${near}\`?` : '; event types are, for example, `pet.created` and `order.*`'}`,
  );
}
