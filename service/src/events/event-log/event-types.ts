import { keysOf } from '../../kit/objects.ts';

/** Every kind of event, and the change it tells of. The part before the dot says what `subject` it has. */
const eventTypes = {
  'pet.created': 'A pet was created.',
  'pet.updated': 'A pet changed: by a request for it, or in its status by orders and stock.',
  'pet.deleted': 'A pet was deleted; `data` is what it was.',
  'category.created': 'A category was created.',
  'category.updated': 'A category changed.',
  'category.deleted': 'A category was deleted; `data` is what it was.',
  'order.placed': 'An order was placed, also one that is complete at once.',
  'order.updated': 'An order changed and is still what it was, open or complete.',
  'order.completed': 'An open order was completed, or an order was placed as complete.',
  'order.cancelled': 'An open order was cancelled; `data` is what it was.',
  'inventory.updated': 'The stock of a pet changed in quantity or status.',
  'key.created': 'An API key was created.',
  'key.updated': 'An API key has other settings.',
  'key.rotated': 'An API key has a new secret.',
  'key.revoked': 'An API key was revoked.',
  'key.banned': 'An API key was banned: `data` is the ban.',
  'key.unbanned': 'The bans of an API key were lifted by an administrator: `data` is the key.',
  'key.limits_reset': 'An administrator cleared what an API key had used of its limits: `data` is the key.',
} as const;

export type EventType = keyof typeof eventTypes;

export const eventTypeNames = keysOf(eventTypes);

type Owner = EventType extends `${infer Name}.${string}` ? Name : never;

/** The collection in which what an event tells of lives: with its ID it is the event's subject. */
const collections: Record<Owner, string> = {
  pet: 'pets',
  category: 'categories',
  order: 'orders',
  inventory: 'inventory',
  key: 'keys',
};

/** `pets/42`. */
export function subjectOf(type: EventType, id: number): string {
  return `${collectionOf(type)}/${id}`;
}

/** The types that events of a subject can have, of `types` if they are given: none for a subject that cannot exist. */
export function typesOfSubject(subject: string, types?: ReadonlySet<string>): ReadonlySet<EventType> {
  const collection = subject.slice(0, subject.indexOf('/'));
  const ofSubject = eventTypeNames.filter(type => collectionOf(type) === collection);
  return new Set(types ? ofSubject.filter(type => types.has(type)) : ofSubject);
}

function collectionOf(type: EventType): string {
  return collections[type.split('.')[0] as Owner];
}

/** Whether an event is for administrators only. */
export function isConfidential(type: string): boolean {
  return type.startsWith('key.');
}
