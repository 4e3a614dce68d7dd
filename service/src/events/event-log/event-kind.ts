import type { Exactly } from '../../contract/exact.ts';
import { type FieldCheck, fieldCheckOf } from '../../contract/extra-fields.ts';
import { dateTime, type Schema } from '../../contract/schema.ts';
import { scopesInWords } from '../../contract/scopes.ts';
import type { Static } from '../../contract/static.ts';
import type { ChangeDetails, NewEvent, StoredEvent, Transaction } from '../../db/database.ts';
import { oldValuesOf } from './changes.ts';
import {
  collectionOf,
  type EventType,
  eventTypeNames,
  eventTypes,
  eventTypeText,
  isWarning,
  readScopeOf,
  singles,
  subjectOf,
} from './event-types.ts';

interface EventKindDefinition<Type extends EventType, Data extends Schema> {
  /** The name of the component in the contract. */
  title: string;
  types: readonly [Type, ...Type[]];
  /** The shape of the resource after the change. */
  data: Data & { readonly example: object };
}

/** What an event states about a change in addition to the resource after it. */
interface Details<Data> extends Omit<ChangeDetails, 'oldValues'> {
  /** The resource before the change: the event gets the values of the fields that changed. */
  before?: Data | undefined;
}

/** Events whose data has the same shape: their types, and their schema in the contract. */
export class EventKind<Type extends EventType = EventType, Data extends Schema = Schema> {
  readonly types: readonly [Type, ...Type[]];
  readonly schema: Schema & { readonly example: object };
  readonly #checkFields: FieldCheck;

  constructor({ title, types, data }: EventKindDefinition<Type, Data>) {
    this.types = types;
    this.schema = { title, ...eventSchema(types, data) };
    this.#checkFields = fieldCheckOf(data);
  }

  /**
   * Appends an event to the log, in the transaction that makes the change. `data` is the resource after the change, or its last
   * state if it was deleted. The store of a request replaces the actor `system` with the key of the request.
   */
  append<Given extends Static<Data>>(
    tx: Transaction,
    type: Type,
    id: number,
    data: Given & Exactly<Given, Static<Data>>,
    details?: Details<Static<Data>>,
  ): void {
    tx.append(this.newEvent(type, id, data, details));
  }

  /** The same, for a transaction that needs the number of the event. */
  appendNumbered<Given extends Static<Data>>(
    tx: Transaction,
    type: Type,
    id: number,
    data: Given & Exactly<Given, Static<Data>>,
    details?: Details<Static<Data>>,
  ): Promise<StoredEvent> {
    return tx.appendNumbered(this.newEvent(type, id, data, details));
  }

  /**
   * Returns an event, for a transaction that a command has opened itself. Throws when the data has a field that its schema does not
   * define: clients would receive it.
   */
  newEvent(type: Type, id: number, data: unknown, { before, ...details }: Details<unknown> = {}): NewEvent {
    this.#checkFields(data);
    const event = {
      type,
      subject: subjectOf(type, id),
      actor: 'system',
      data: JSON.stringify(data),
      ...details,
    };
    return before === undefined
      ? event
      : { ...event, oldValues: oldValuesOf(before as object, data as object) };
  }
}

const required = [
  'specversion',
  'id',
  'source',
  'type',
  'subject',
  'time',
  'datacontenttype',
  'actor',
  'data',
] as const;

const subjectText = {
  type: 'string',
  maxLength: 40,
  description: 'The resource that changed: its URL relative to `source`.',
} as const;

function eventSchema(types: readonly [EventType, ...EventType[]], data: Schema & { example: object }) {
  const [first] = types;
  const path = collectionOf(first);
  const isSingle = singles.has(path);
  return {
    type: 'object',
    description: [...types.map(type => `\`${type}\`: ${eventTypes[type]}`), requirement(first)].join('\n\n'),
    required,
    additionalProperties: false,
    properties: {
      ...attributes,
      type: { type: 'string', enum: types, description: 'The kind of change.' },
      subject: { ...subjectText, pattern: isSingle ? `^${path}$` : `^${path}/[1-9][0-9]*$` },
      data,
    },
    example: {
      specversion: '1.0',
      id: isSingle ? '1000000001' : '1042',
      source: '/',
      type: first,
      subject: isSingle ? path : `${path}/1`,
      time: '2026-11-21T12:00:00.000Z',
      datacontenttype: 'application/json',
      ...(isSingle
        ? { actor: 'system' }
        : { actor: 'keys/2', requestid: '4a1d0d5e-2f5c-4c0e-9d53-1f6f0c3f8a11' }),
      data: data.example,
    },
  } as const;
}

/** The scopes that a reader of a kind needs. They are the same for all its types, which have one collection. */
function requirement(type: EventType): string {
  if (isWarning(type)) return 'Requires the scope `events:read`; for warnings about other keys `admin`.';
  const scope = readScopeOf(type);
  if (scope === 'admin') return 'Requires the scope `admin`.';
  const scopes = new Set(['events:read', scope] as const);
  return `Requires the ${scopesInWords([...scopes])}.`;
}

/** The attributes of CloudEvents 1.0 and its extensions that are the same for every kind, in the order of an event. */
const attributes = {
  specversion: { type: 'string', enum: ['1.0'] },
  id: {
    type: 'string',
    maxLength: 16,
    pattern: '^[1-9][0-9]*$',
    description:
      'The number of the event in the log: 1, 2, 3 … without gaps, except before a `log.restored`. As a cursor it means the ' +
      'position after the event.',
  },
  source: {
    type: 'string',
    format: 'uri-reference',
    maxLength: 2_000,
    pattern: '/$',
    description:
      'The service: its public URL, or `/` if the operator has not configured one. `subject` is relative to it.',
  },
  time: { ...dateTime, description: 'When the event was recorded.' },
  datacontenttype: { type: 'string', enum: ['application/json'] },
  actor: {
    type: 'string',
    maxLength: 30,
    pattern: '^(keys/[1-9][0-9]*|system)$',
    description:
      'What made the change: the API key of the request, or `system` for a change without a request, such as a ban or an ' +
      'operator’s command.',
  },
  requestid: {
    type: 'string',
    maxLength: 128,
    description: 'The `X-Request-Id` of the request that made the change, if a request made it.',
  },
  traceparent: {
    type: 'string',
    maxLength: 55,
    pattern: '^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$',
    description:
      'The trace of the request that made the change, if there is one: the header `traceparent` of W3C Trace Context, as ' +
      'an attribute of the CloudEvents extension Distributed Tracing.',
  },
  reason: {
    type: 'string',
    maxLength: 500,
    description:
      'Why the change was made, if it is known: the `reason` of a stock adjustment, the `message` of a decision about a plan request, ' +
      'or the reason of the service or of an operator’s command.',
  },
  note: { type: 'string', maxLength: 200, description: 'The `note` of a stock adjustment, if it has one.' },
} as const;

const { knownValues, ...typeText } = eventTypeText;

/** An event of a type that a later release adds. Without it, clients that check responses would reject a page that has one. */
const otherEvent = {
  title: 'OtherEvent',
  type: 'object',
  description: 'An event whose type is not in this document, because a later release added it.',
  required,
  additionalProperties: false,
  properties: {
    ...attributes,
    // Not a pattern: some engines of regular expressions cannot exclude words.
    type: { ...typeText, not: { enum: knownValues } },
    subject: subjectText,
    data: { type: 'object', additionalProperties: true, description: 'The resource after the change.' },
  },
  example: {
    specversion: '1.0',
    id: '1042',
    source: '/',
    type: 'supplier.created',
    subject: 'suppliers/7',
    time: '2026-11-21T12:00:00.000Z',
    datacontenttype: 'application/json',
    actor: 'keys/2',
    data: { id: 7, name: 'Kennels of the North' },
  },
} as const;

/** The schema of all events. */
export interface EventUnion extends Schema {
  readonly type: 'object';
  readonly oneOf: readonly Schema[];
  readonly example: object & { readonly id: string; readonly type: string };
}

/** Returns the schema of events of all kinds. Throws unless each type belongs to one kind. */
export function eventUnion(kinds: readonly Pick<EventKind, 'types' | 'schema'>[]): EventUnion {
  const types = kinds.flatMap(kind => kind.types);
  const wrong = eventTypeNames.filter(type => types.filter(other => other === type).length !== 1);
  if (wrong.length > 0)
    throw new Error(`These event types do not have exactly one kind: ${wrong.join(', ')}`);
  const example = kinds[0]!.schema.example as EventUnion['example'];
  const knownEvent = {
    title: 'KnownEvent',
    type: 'object',
    description: 'An event of a type in this document: `type` determines the shape of `data`.',
    oneOf: kinds.map(({ schema }) => schema),
    discriminator: 'type',
    example,
  } as const;
  return {
    title: 'Event',
    type: 'object',
    description:
      'A change, as a CloudEvent (CloudEvents 1.0, JSON format). `type` determines the shape of `data`: the resource after the ' +
      'change, or its last state if it was deleted. The inventory entry of a pet is created and deleted with the pet, without ' +
      'separate events. Later releases may add types: ignore events whose type you do not know.',
    oneOf: [knownEvent, otherEvent],
    example,
  };
}
