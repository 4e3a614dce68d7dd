import type { Scope } from '../../contract/scopes.ts';
import { RESTORED_TYPE } from '../../db/event-ranges.ts';
import { keysOf } from '../../kit/objects.ts';

/** All event types, and the change that each describes. The part before the dot determines the `subject`. */
export const eventTypes = {
  'pet.created': 'A pet was created.',
  'pet.updated': 'A pet changed: by a request, or its status changed because of orders or stock.',
  'pet.deleted': 'A pet was deleted; `data` is its last state.',
  'category.created': 'A category was created.',
  'category.updated': 'A category changed.',
  'category.deleted': 'A category was deleted; `data` is its last state.',
  'order.placed': 'An order was placed, as open or as complete.',
  'order.updated': 'An order changed, but is still open or still complete.',
  'order.completed': 'An open order was completed, or an order was placed as complete.',
  'order.cancelled': 'An open order was cancelled; `data` is its last state.',
  'inventory.updated': 'The stock of a pet changed in quantity or status.',
  'key.created': 'An API key was created.',
  'key.updated': 'The settings of an API key changed.',
  'key.rotated': 'An API key got a new secret.',
  'key.revoked': 'An API key was revoked.',
  'key.banned': 'An API key was banned: `data` is the ban.',
  'key.leaked':
    'Someone reported a secret of an API key as leaked: `data` states what ended because of it. The webhooks of the key receive the ' +
    'event regardless of their `types` and the scopes of the key, and as their last one if the key was revoked.',
  'key.quota_reached':
    'An API key has used 80, 95 or 100 percent of its requests of a UTC day, or all requests of the minute in 5 of 10 minutes. Each part ' +
    'is reported once a day, again after a reset and with another limit. A key may read the warnings about itself.',
  'key.expiring': 'An API key expires within 14, 3 or 1 days. A key may read the warnings about itself.',
  'key.plan_requested': 'The holder of an API key requested another plan: `data` is the plan request.',
  'key.plan_approved':
    'An administrator approved a plan request. A `key.updated` with the new plan precedes it.',
  'key.plan_declined': 'An administrator declined a plan request.',
  'key.unbanned': 'An administrator lifted the bans of an API key: `data` is the key.',
  'key.limits_reset': 'An administrator reset the usage of an API key: `data` is the key.',
  'webhook.created': 'A webhook was created.',
  'webhook.updated': 'The settings of a webhook changed.',
  'webhook.enabled': 'A client enabled a webhook.',
  'webhook.disabled': 'A client or the service disabled a webhook: `data` has the reason of the service.',
  'webhook.rotated': 'A webhook got a new secret.',
  'webhook.replayed': 'A replay of events was started for a webhook: `data` has its cursor.',
  'webhook.redelivered': 'A delivery was scheduled again: `data` is the delivery.',
  'webhook.deleted': 'A webhook was deleted; `data` is its last state.',
  'webhook.test': 'A webhook was tested. Only this webhook receives the event, regardless of its `types`.',
  'access.refused':
    'Requests to manage API keys, plan requests or webhooks were rejected: `data` has the operation, the error and the number of ' +
    'attempts since the last such event, at most one in a minute for each caller and operation.',
  'service.store_created': 'An operator created an empty store with `new-store`.',
  'service.store_migrated': 'An operator copied the embedded store to PostgreSQL with `migrate-store`.',
  [RESTORED_TYPE]:
    'The service was restored from a backup. The log continues with this event, after the one that `data` names; its number is ' +
    'a multiple of 1,000,000,000, plus 1. The events between the two no longer exist.',
} as const;

export type EventType = keyof typeof eventTypes;

export const eventTypeNames = keysOf(eventTypes);

/** The schema of a type in a response. */
export const eventTypeText = {
  type: 'string',
  maxLength: 50,
  pattern: '^[a-z]+\\.[a-z_]+$',
  knownValues: eventTypeNames,
  description: 'The type of the event.',
} as const;

type Kind = EventType extends `${infer Name}.${string}` ? Name : never;

/** The path of the collection of each kind of resource. A subject is a collection and an ID, or one of `singles`. */
export const collections = {
  pet: 'pets',
  category: 'categories',
  order: 'store/orders',
  inventory: 'store/inventory',
  key: 'keys',
  webhook: 'webhooks',
  access: 'access',
  service: 'service',
  log: 'events',
} as const satisfies Record<Kind, string>;

/**
 * The scope that reading the events of each kind of resource needs, in addition to `events:read`: the one that reading the
 * resource needs. `events:read` means that no other scope is needed.
 */
const readScopes: Record<Kind, Scope> = {
  pet: 'pets:read',
  category: 'pets:read',
  order: 'orders:read',
  inventory: 'inventory:read',
  key: 'admin',
  webhook: 'admin',
  access: 'admin',
  service: 'admin',
  log: 'events:read',
};

/** The scopes that let a key read events of the shop. A key with none of them may read no events. */
export const shopScopes: readonly Scope[] = [...new Set(Object.values(readScopes))].filter(
  scope => scope !== 'admin' && scope !== 'events:read',
);

/** The subject of events of the log itself. */
const LOG = collections.log;

/** The subjects without an ID: the log, the service, and its administration. */
export const singles: ReadonlySet<string> = new Set([LOG, collections.service, collections.access]);

/** Returns a subject: the path of a resource relative to the `source` of events, such as `store/orders/17`. */
export function subjectOf(type: EventType, id: number): string {
  const collection = collectionOf(type);
  return singles.has(collection) ? collection : `${collection}/${id}`;
}

/** The types of events that begin a resource or a state, whose data is new. */
const beginnings: ReadonlySet<string> = new Set<EventType>([
  'pet.created',
  'category.created',
  'order.placed',
  'key.created',
  'key.banned',
  'key.leaked',
  'key.quota_reached',
  'key.expiring',
  'key.plan_requested',
  'webhook.created',
  'webhook.replayed',
  'webhook.redelivered',
  'access.refused',
]);

/** The types of events that end a resource, whose data is its last state. */
const ends: ReadonlySet<string> = new Set<EventType>([
  'pet.deleted',
  'category.deleted',
  'order.cancelled',
  'webhook.deleted',
]);

/** Returns the side of a change that the data of an event is on, when the event concerns the whole resource. */
export function sideOf(type: string): 'from' | 'to' | undefined {
  if (ends.has(type)) return 'from';
  return beginnings.has(type) ? 'to' : undefined;
}

/** Returns the types that events of a subject can have, limited to `types` if they are given. */
export function typesOfSubject(subject: string, types?: ReadonlySet<string>): ReadonlySet<EventType> {
  return typesOfCollection(subject.replace(/\/\d+$/, ''), types);
}

/** Returns the types that events of the things of a collection can have, limited to `types` if they are given. */
export function typesOfCollection(collection: string, types?: ReadonlySet<string>): ReadonlySet<EventType> {
  const ofCollection = eventTypeNames.filter(type => collectionOf(type) === collection);
  return new Set(types ? ofCollection.filter(type => types.has(type)) : ofCollection);
}

export function collectionOf(type: EventType): string {
  return collections[kindOf(type)];
}

function kindOf(type: EventType): Kind {
  return type.split('.')[0] as Kind;
}

/** The type of the event that tests a webhook. */
export const TEST_TYPE = 'webhook.test' satisfies EventType;

/** The type of the event that all webhooks of its key receive. */
const LEAK_TYPE = 'key.leaked' satisfies EventType;

/** Whether an event is about a leaked secret of this key. */
export function isLeakOf({ type, subject }: { type: string; subject: string }, keyId: number): boolean {
  return type === LEAK_TYPE && subject === subjectOf(LEAK_TYPE, keyId);
}

/** The types of warnings about a key, which the key itself may also read. */
const warningTypes: ReadonlySet<string> = new Set<EventType>(['key.quota_reached', 'key.expiring']);

/** Whether events of a type are about a key that may read them itself, without the scope `admin`. */
export function isWarning(type: string): boolean {
  return warningTypes.has(type);
}

/** Returns the scope that reading events of a type needs, in addition to `events:read`. Warnings about other keys need `admin`. */
export function readScopeOf(type: EventType): Scope {
  return isWarning(type) ? 'events:read' : readScopes[kindOf(type)];
}

/** Whether a key with `events:read` and these scopes may read events of a type; of warnings, at least those about itself. */
export function mayRead(scopes: ReadonlySet<Scope>, type: EventType): boolean {
  return scopes.has('admin') || scopes.has(readScopeOf(type));
}
