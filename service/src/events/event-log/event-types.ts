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
  'key.unbanned': 'An administrator lifted the bans of an API key: `data` is the key.',
  'key.limits_reset': 'An administrator reset the usage of an API key: `data` is the key.',
  'webhook.test': 'A webhook was tested. Only this webhook receives the event, regardless of its `types`.',
  [RESTORED_TYPE]:
    'The service was restored from a backup. The log continues with this event, after the one that `data` names; its number is ' +
    'a multiple of 1,000,000,000, plus 1. The events between the two no longer exist.',
} as const;

export type EventType = keyof typeof eventTypes;

export const eventTypeNames = keysOf(eventTypes);

type Kind = EventType extends `${infer Name}.${string}` ? Name : never;

/** The path of the collection of each kind of resource. A subject is a collection and an ID, or `LOG`. */
export const collections = {
  pet: 'pets',
  category: 'categories',
  order: 'store/orders',
  inventory: 'store/inventory',
  key: 'keys',
  webhook: 'webhooks',
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
  log: 'events:read',
};

/** The scopes that let a key read events of the shop. A key with none of them may read no events. */
export const shopScopes: readonly Scope[] = [...new Set(Object.values(readScopes))].filter(
  scope => scope !== 'admin' && scope !== 'events:read',
);

/** The subject of events of the log itself. */
export const LOG = collections.log;

/** Returns a subject: the path of a resource relative to the `source` of events, such as `store/orders/17`. */
export function subjectOf(type: EventType, id: number): string {
  return `${collectionOf(type)}/${id}`;
}

/** Returns the types that events of a subject can have, limited to `types` if they are given. */
export function typesOfSubject(subject: string, types?: ReadonlySet<string>): ReadonlySet<EventType> {
  const collection = subject.replace(/\/\d+$/, '');
  const ofSubject = eventTypeNames.filter(type => collectionOf(type) === collection);
  return new Set(types ? ofSubject.filter(type => types.has(type)) : ofSubject);
}

export function collectionOf(type: EventType): string {
  return collections[kindOf(type)];
}

function kindOf(type: EventType): Kind {
  return type.split('.')[0] as Kind;
}

/** The type of the event that tests a webhook. */
export const TEST_TYPE = 'webhook.test' satisfies EventType;

/** Returns the scope that reading events of a type needs, in addition to `events:read`. */
export function readScopeOf(type: EventType): Scope {
  return readScopes[kindOf(type)];
}

/** Whether a key with `events:read` and these scopes may read events of a type. */
export function mayRead(scopes: ReadonlySet<Scope>, type: EventType): boolean {
  return scopes.has('admin') || scopes.has(readScopeOf(type));
}
