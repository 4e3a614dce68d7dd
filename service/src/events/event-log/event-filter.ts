import { ApiError } from '../../contract/errors.ts';
import { nearest } from '../../kit/text.ts';
import type { EventRow } from './event.ts';
import { type EventType, eventTypeNames, isConfidential } from './event-types.ts';

/** Names of event types, as `eventFilter` reads them. */
export const typeNames = {
  type: 'array',
  items: { type: 'string', maxLength: 50, example: 'order.*' },
  minItems: 1,
  maxItems: 50,
} as const;

/** Which events a reader gets. */
export interface EventFilter {
  /** `undefined` for all. */
  types: ReadonlySet<string> | undefined;
  /** `undefined` for all. */
  subject: string | undefined;
}

/**
 * The filter that a reader asks for. `types` are names such as `pet.created`, or `order.*` for all of one kind. Events of
 * keys are for administrators, who also get them when they ask for all.
 */
export function eventFilter(
  { types, subject }: { types?: readonly string[] | undefined; subject?: string | undefined },
  isAdministrator: boolean,
): EventFilter {
  if (types === undefined && isAdministrator) return { types: undefined, subject };
  const wanted = types === undefined ? eventTypeNames : types.flatMap(typesOf);
  const forbidden = types && !isAdministrator && wanted.find(isConfidential);
  if (forbidden) {
    throw new ApiError('insufficient_scope', `Events \`${forbidden}\` are for the scope \`admin\``);
  }
  const allowed = isAdministrator ? wanted : wanted.filter(type => !isConfidential(type));
  return { types: new Set(allowed), subject };
}

export function matches({ types, subject }: EventFilter, event: EventRow): boolean {
  return (!types || types.has(event.type)) && (subject === undefined || subject === event.subject);
}

/** The types that a name or pattern stands for. Throws `invalid_request` for none. */
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
